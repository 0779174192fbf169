// The demo's HTML page: what was computed, how, and what code came of it, side by side.
#pragma once

#include <string>
#include <vector>

namespace polyhalite_apps {

struct PageApp {
  std::string name, size;
  std::string input_picture, output_picture;  // file names beside the page
  std::string figures;                        // one line of measured figures
  std::string algorithm, schedule, found_schedule, tree, loops, assembly;
};

/// What another way in has made: a heading, figures or a report, and a picture or a piece of HTML.
struct PageDoor {
  std::string title, program, text, picture, html;
};

struct Page {
  std::string machine;     // one line: target and threads
  std::string table;       // as printed on the terminal
  std::string doors_text;  // likewise, one line a door
  std::vector<PageApp> apps;
  std::vector<PageDoor> doors;
  std::string refused_program;  // C++ of the refused schedule
  std::string refusal;          // the message
};

/// A complete document, without references to anything but the pictures.
std::string to_html(const Page &page);

}  // namespace polyhalite_apps
