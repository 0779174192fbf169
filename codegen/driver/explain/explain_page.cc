#include "codegen/driver/explain/explain_page.h"

#include <cctype>
#include <iomanip>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "codegen/driver/explain/dependence_drawing.h"
#include "codegen/driver/explain/directive_effects.h"
#include "codegen/driver/explain/footprints.h"
#include "codegen/driver/explain/stage_graph.h"
#include "codegen/driver/explain/stage_times.h"
#include "codegen/driver/explain/tree_sections.h"
#include "codegen/driver/html.h"
#include "codegen/driver/stmt_html.h"
#include "lang/asking.h"
#include "lang/ir/expr_text.h"
#include "lang/ir/resolve_target.h"
#include "lang/simplify/simplify.h"
#include "polyhedral/judge.h"
#include "schedule/build_tree.h"

namespace polyhalite {

namespace {

constexpr const char *kStyle = R"(
:root { color-scheme: light dark; --paper: #fff; --ph-ink: #1c1c1c; --faint: #666; --rule: #ccc;
  --ph-line: #777; --ph-image: #dbe9f6; --ph-param: #eee; --ph-func: #fff; --ph-output: #dff2df;
  --accent: #0550ae; --good: #116329; --bad: #b3261e; --mark: #fff3bf; }
@media (prefers-color-scheme: dark) { :root { --paper: #16181c; --ph-ink: #e6e6e6; --faint: #a0a0a0;
  --rule: #3c4046; --ph-line: #9aa0a6; --ph-image: #1d3a57; --ph-param: #33363b; --ph-func: #22252a;
  --ph-output: #1f4427; --accent: #79b8ff; --good: #7ee787; --bad: #ff8a80; --mark: #4d4210; } }
body { font: 15px/1.5 sans-serif; color: var(--ph-ink); background: var(--paper);
  max-width: 76em; margin: 1.5em auto; padding: 0 1em; }
h1 { font-size: 1.5em; } h2 { font-size: 1.15em; margin-top: 2em;
  border-bottom: 1px solid var(--rule); }
a { color: var(--accent); } nav a { margin-right: 1em; }
table { border-collapse: collapse; } th, td { text-align: left; vertical-align: top;
  padding: .25em .9em .25em 0; border-bottom: 1px solid var(--rule); }
code, pre, summary, .line { font-family: monospace; font-size: 13px; white-space: pre-wrap; }
.scroll { overflow-x: auto; } pre { margin: 0; }
details > *:not(summary) { margin-left: 1.4em; } summary { cursor: pointer; }
summary b { color: var(--accent); } .of, .size, .before, figcaption, .legend { color: var(--faint); }
.kind, .after { color: var(--good); } .bytes { color: var(--faint); } .refused { color: var(--bad); }
:target { background: var(--mark); } figure { display: inline-block; margin: .6em 2em .6em 0;
  vertical-align: top; } figcaption { max-width: 26em; margin-bottom: .3em; }
.ph-flow, .ph-anti, .ph-out { fill: none; stroke: var(--accent); stroke-width: 1.3; }
.ph-anti { stroke: var(--bad); stroke-dasharray: 5 3; }
.ph-out { stroke: var(--good); stroke-dasharray: 2 3; }
.ph-cell { fill: none; stroke: var(--rule); } .ph-read { fill: var(--accent); }
.ph-key { display: inline-block; width: 2em; border-top: 2px solid var(--accent);
  margin: 0 .2em .25em 1em; } .ph-key.anti { border-top: 2px dashed var(--bad); }
.share { display: inline-block; height: .7em; background: var(--accent); }
.ph-key.out { border-top: 2px dotted var(--good); }
)";

// A link into a folded section unfolds it.
constexpr const char *kScript = R"(
function unfold() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let e = target; e; e = e.parentElement) if (e.tagName === "DETAILS") e.open = true;
  if (target) target.scrollIntoView();
}
addEventListener("hashchange", unfold);
unfold();
)";

void section(std::ostream &page, const char *id, const char *title, const std::string &body) {
  page << "<section id=\"" << id << "\"><h2>" << title << "</h2>\n" << body << "</section>\n";
}

const char *proof_word(Proof p) {
  switch (p) {
    case Proof::Structural:
      return "by construction";
    case Proof::Isl:
      return "proven by isl";
    case Proof::Waiver:
      return "promised, not proven";
    case Proof::Undecided:
      return "undecided";
  }
  return "";
}

std::string proofs(const Judgement &judgement) {
  std::ostringstream html;
  html << "<table><tr><th>Claim</th><th>About</th><th>Decided</th><th>Why</th></tr>\n";
  for (const bool waivers : {true, false}) {  // what nobody has proven stands first
    for (const Certificate &c : judgement.certificates) {
      if ((c.proof == Proof::Waiver) != waivers) continue;
      html << "<tr" << (waivers ? " class=\"refused\"" : "") << "><td>(" << c.claim << ")</td><td>"
           << escaped(c.about) << "</td><td>" << proof_word(c.proof) << "</td><td>"
           << escaped(c.rule) << "</td></tr>\n";
    }
  }
  html << "</table>\n";
  return html.str();
}

std::string proven_again(const std::vector<std::string> &lines) {
  if (lines.empty()) return "";
  std::string html = "<p>The lowered loops, against the algorithm:</p>\n<ul>\n";
  for (const std::string &line : lines) html += "<li>" + escaped(line) + "</li>\n";
  return html + "</ul>\n";
}

std::string assumptions(const Survey &survey) {
  if (survey.assumptions.empty()) return "<p>Nothing is assumed of sizes.</p>\n";
  std::string html = "<p>Checked whenever the pipeline is called:</p>\n<ul>\n";
  for (const Assumption &a : survey.assumptions) {
    html += "<li>" + escaped(a.func) + ": ";
    if (!a.text.empty()) html += escaped(a.text) + ": ";
    html += "<code>" + escaped(to_text(simplify(a.condition))) + "</code></li>\n";
  }
  return html + "</ul>\n";
}

std::string inputs(const Survey &survey) {
  if (survey.inputs.empty()) return "";
  std::string html = "<p>Buffers must have:</p>\n<ul>\n";
  for (const auto &[name, box] : survey.inputs) {
    html += "<li>" + escaped(name) + ": <code>";
    for (const IndexRange &r : box) {
      html +=
          "[" + escaped(to_text(simplify(r.min))) + ", " + escaped(to_text(simplify(r.max))) + "] ";
    }
    html += "</code></li>\n";
  }
  return html + "</ul>\n";
}

// The loop that a comment of the assembly names, as in "# %blur.s0.y"; copies of a block have
// numbers behind the name.
std::optional<std::string> loop_of_line(const std::string &line,
                                        const std::set<std::string> &loops) {
  const size_t comment = line.find_first_of("#@/");
  const size_t percent = comment == std::string::npos ? comment : line.find('%', comment);
  if (percent == std::string::npos) return std::nullopt;
  std::string name = line.substr(percent + 1);
  if (!name.empty() && name[0] == '"') name = name.substr(1, name.find('"', 1) - 1);
  name = name.substr(0, name.find_first_of(" \t\""));
  while (!loops.count(name) && !name.empty() &&
         std::isdigit(static_cast<unsigned char>(name.back()))) {
    name.pop_back();
  }
  return loops.count(name) ? std::optional<std::string>(name) : std::nullopt;
}

struct CodeSections {
  std::string loops, assembly;
  std::set<std::string> anchors;
};

CodeSections code_sections(const LoopTree &tree, const ExplainedCode &code) {
  CodeSections s;
  std::set<std::string> names;
  for (const LoopInfo &l : tree.loops) names.insert(l.name);
  // Anchors of the assembly first: the loop IR links to them.
  std::ostringstream assembly;
  std::istringstream lines(code.assembly());
  for (std::string line; std::getline(lines, line);) {
    const auto loop = loop_of_line(line, names);
    if (loop && s.anchors.insert("asm-" + *loop).second) {
      assembly << "<span id=\"asm-" << escaped(*loop) << "\">" << escaped(line) << "</span>";
      assembly << " <a href=\"#tree-" << escaped(*loop) << "\">loop</a>\n";
    } else {
      assembly << escaped(line) << "\n";
    }
  }
  s.assembly = "<details><summary>Assembly of the whole function</summary><pre>" + assembly.str() +
               "</pre></details>\n";
  s.loops = stmt_sections(code.loops(), [&](const std::string &loop) {
    const bool first = s.anchors.insert("ir-" + loop).second;
    std::string heading = first ? "<span id=\"ir-" + escaped(loop) + "\"></span>" : "";
    if (names.count(loop)) heading += "<a href=\"#tree-" + escaped(loop) + "\">loop</a> ";
    if (s.anchors.count("asm-" + loop)) {
      heading += "<a href=\"#asm-" + escaped(loop) + "\">assembly</a> ";
    }
    return heading;
  });
  s.loops = "<details><summary>Loop IR of the whole function</summary>" + s.loops + "</details>\n";
  return s;
}

std::string times(const FrozenPipeline &pipeline, const Target &target) {
  const StageTimes t = stage_times(pipeline, target);
  if (!t.failure.empty()) return "<p>Not run.</p>\n<pre>" + escaped(t.failure) + "</pre>\n";
  auto number = [](double v, int digits) {
    std::ostringstream text;
    text << std::fixed << std::setprecision(digits) << v;
    return text.str();
  };
  std::ostringstream html;
  html << "<p>A run takes " << number(t.ms, 3) << " ms, on average of " << t.runs
       << " runs on made-up inputs, for the sizes that set_estimates() gives. What is inlined "
          "counts to its consumer.</p>\n<table><tr><th>Stage</th><th>ms of a run</th>"
          "<th colspan=\"2\">Share</th><th>Threads at work</th><th>Heap at most</th></tr>\n";
  for (const StageTime &s : t.stages) {
    html << "<tr><td>" << (s.is_func ? "" : "<span class=\"of\">") << escaped(s.name)
         << (s.is_func ? "" : "</span>") << "</td><td>" << number(s.ms, 3) << "</td><td>"
         << number(100 * s.share, 1)
         << "%</td><td><span class=\"share\" style=\"width:" << number(12 * s.share, 2)
         << "em\"></span></td><td>" << number(s.threads, 1) << "</td><td>"
         << (s.heap > 0 ? bytes_text(s.heap) : "") << "</td></tr>\n";
  }
  html << "</table>\n";
  return html.str();
}

std::string verdict(const std::optional<Diagnostic> &refusal, const Judgement &judgement) {
  if (refusal) {
    return "<p class=\"refused\">The schedule is refused.</p>\n<pre>" +
           escaped(refusal->to_string()) + "</pre>\n";
  }
  std::map<Proof, int> counts;
  for (const Certificate &c : judgement.certificates) counts[c.proof]++;
  std::string html = "<p>The schedule keeps the algorithm's meaning: " +
                     std::to_string(counts[Proof::Structural]) + " claims hold by construction, " +
                     std::to_string(counts[Proof::Isl]) + " are proven by isl.";
  if (const int waivers = counts[Proof::Waiver]) {
    html += " <span class=\"refused\">" + std::to_string(waivers) +
            " are promised by the schedule and not proven.</span>";
  }
  return html + "</p>\n";
}

// What compiling would refuse the schedule with.
std::optional<Diagnostic> refusal_of(const FrozenPipeline &pipeline, const Target &target) {
  const Asking asking;
  JudgeOptions options;
  options.kernels = target.has_feature(Target::CUDA);
  try {
    build_and_judge(pipeline.algorithm, pipeline.directives, options);
  } catch (const CompileError &e) {
    return e.diagnostic();
  }
  return std::nullopt;
}

}  // namespace

std::string explain_page(const std::string &name, const FrozenPipeline &given, const Target &target,
                         const ExplainedCode &code) {
  const FrozenPipeline pipeline = resolve_target(given, target);
  const LoopTree tree = build_tree(pipeline.algorithm, pipeline.directives);
  const Survey regions = survey(tree);
  const Judgement judgement = judge(tree, regions);
  const auto refusal = refusal_of(pipeline, target);
  const Footprints numbers = footprints(pipeline, tree, regions);
  CodeSections sections;
  if (!refusal) sections = code_sections(tree, code);
  const bool timed = code.run && !refusal;

  std::ostringstream page;
  page << "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>"
       << escaped(name)
       << "</title>\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<link rel=\"icon\" href=\"data:,\"><style>"
       << kStyle << "</style></head><body>\n<h1>" << escaped(name) << "</h1>\n<p>For "
       << escaped(target.to_string()) << ".</p>\n"
       << verdict(refusal, judgement)
       << "<nav><a href=\"#stages\">Stages</a><a href=\"#directives\">Directives</a>"
          "<a href=\"#loops\">Loops</a><a href=\"#dependences\">Dependences</a>"
          "<a href=\"#proofs\">Proofs</a>"
       << (timed ? "<a href=\"#times\">Times</a>" : "")
       << (refusal ? "" : "<a href=\"#code\">Code</a>") << "</nav>\n";
  section(page, "stages", "Stages",
          "<div class=\"scroll\">" + graph_svg(pipeline.algorithm) + "</div>\n");
  section(page, "directives", "What each directive did",
          directive_effects(pipeline.algorithm, pipeline.directives));
  section(page, "loops", "Loops",
          (numbers.missing.empty()
               ? "<p>Numbers are for the sizes that set_estimates() gives; "
                 "footprints are those of a loop's first run.</p>\n"
               : "<p>Sizes without numbers: " + escaped(numbers.missing) + ".</p>\n") +
              tree_sections(tree, regions, numbers, target, sections.anchors));
  section(page, "dependences", "Dependences",
          "<div class=\"scroll\">" + draw_dependences(pipeline.algorithm) + "</div>\n");
  section(page, "proofs", "Proofs, promises and assumptions",
          proofs(judgement) + (refusal ? "" : proven_again(code.proven_again())) +
              assumptions(regions) + inputs(regions));
  if (timed) section(page, "times", "Time per stage", times(pipeline, target));
  if (!refusal) section(page, "code", "Code", sections.loops + sections.assembly);
  page << "<script>" << kScript << "</script>\n</body></html>\n";
  return page.str();
}

}  // namespace polyhalite
