#include "apps/demo/page.h"

namespace polyhalite_apps {
namespace {

const char *const kStyle = R"(
body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 110em; padding: 0 1em;
       color: #1b1f24; background: #fbfbf9; }
h1, h2 { font-weight: 600; }
h2 { border-top: 1px solid #d5d5cf; padding-top: 1em; margin-top: 2em; }
pre { background: #f1f1ec; padding: .8em; margin: 0; overflow: auto; max-height: 34em;
      font: 12px/1.4 ui-monospace, monospace; border-radius: 4px; }
.columns { display: grid; grid-template-columns: repeat(3, minmax(0, 1fr)); gap: 1em; }
.pictures img { height: 22em; max-width: 48%; object-fit: contain; margin-right: 1em; }
h3 { margin: 1em 0 .3em; font-size: 1em; }
details { margin-top: 1em; }
.refused { border-left: 4px solid #b3261e; }
)";

std::string escape(const std::string &text) {
  std::string result;
  for (char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string pre(const std::string &text, const char *css_class = "") {
  return "<pre class=\"" + std::string(css_class) + "\">" + escape(text) + "</pre>\n";
}

std::string column(const char *title, const std::string &text) {
  return "<div><h3>" + std::string(title) + "</h3>" + pre(text) + "</div>\n";
}

std::string section(const PageApp &app) {
  std::string html = "<h2>" + escape(app.name) + " <small>" + escape(app.size) + "</small></h2>\n";
  html += "<p>" + escape(app.figures) + "</p>\n<div class=\"pictures\">";
  html += "<img alt=\"input\" src=\"" + escape(app.input_picture) + "\">";
  html += "<img alt=\"output\" src=\"" + escape(app.output_picture) + "\"></div>\n";
  html += "<div class=\"columns\">\n";
  html += "<div><h3>Algorithm</h3>" + pre(app.algorithm) + "<h3>Schedule</h3>" + pre(app.schedule) +
          "<h3>Schedule found by search</h3>" + pre(app.found_schedule) + "</div>\n";
  html += column("Loop tree", app.tree) + column("Generated loops", app.loops) + "</div>\n";
  html += "<details><summary>Machine code</summary>" + pre(app.assembly) + "</details>\n";
  return html;
}

std::string section(const PageDoor &door) {
  std::string html = "<h2>" + escape(door.title) + "</h2>\n" + pre(door.text);
  if (!door.picture.empty()) {
    html +=
        "<div class=\"pictures\"><img alt=\"output\" src=\"" + escape(door.picture) + "\"></div>\n";
  }
  html += door.html;
  return html + "<details><summary>Program</summary>" + pre(door.program) + "</details>\n";
}

}  // namespace

std::string to_html(const Page &page) {
  std::string html =
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<title>Polyhalite demo</title>\n<style>";
  html += kStyle;
  html += "</style></head><body>\n<h1>Polyhalite demo</h1>\n<p>" + escape(page.machine) + "</p>\n";
  html += pre(page.table);
  for (const PageApp &app : page.apps) html += section(app);
  for (const PageDoor &door : page.doors) html += section(door);
  html += "<h2>A schedule that is refused</h2>\n" + pre(page.refused_program) + "<br>\n" +
          pre(page.refusal, "refused");
  return html + "</body></html>\n";
}

}  // namespace polyhalite_apps
