#include "tools/cli/man_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "format/model/version.h"
#include "tools/cli/help.h"

namespace heaprec::tools {
namespace {

// Text that roff takes as it is: nothing is an escape or, at the start of a line, a request.
std::string Escaped(std::string_view text) {
  std::string escaped;
  bool at_start = true;
  for (const char c : text) {
    if (at_start && (c == '.' || c == '\'')) escaped += "\\&";
    at_start = c == '\n';
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else if (c == '\'') {
      escaped += "\\(aq";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string Upper(std::string_view text) {
  std::string upper(text);
  std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char c) { return std::toupper(c); });
  return upper;
}

std::string Begin(const std::string& title, std::string_view text) {
  return fmt::format(".TH {} 1 \"\" \"heaprec {}\" \"heaprec\"\n.SH NAME\n{} \\- {}\n", Upper(title), kVersion,
                     Escaped(title), Escaped(text));
}

std::string Tagged(const std::string& tag, std::string_view text) {
  return fmt::format(".TP\n{}\n{}\n", tag, Escaped(text));
}

std::string OptionLine(const Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.names) names.push_back("\\fB" + Escaped(name) + "\\fR");
  const std::string value =
      option.value.empty() || option.is_positional ? "" : " \\fI" + Escaped(option.value) + "\\fR";
  return fmt::format("{}{}", fmt::join(names, ", "), value);
}

std::string Options(const std::deque<Option>& options) {
  std::string text = ".SH OPTIONS\n", group;
  for (const Option& option : options) {
    if (option.group != group) text += fmt::format(".SS {}\n", Escaped(option.group));
    group = option.group;
    text += Tagged(OptionLine(option), option.Help());
  }
  return text;
}

std::string Notes(const std::string& footer) {
  return footer.empty() ? "" : fmt::format(".SH NOTES\n.nf\n{}\n.fi\n", Escaped(footer));
}

constexpr const char* kExit = R"(.SH EXIT STATUS
.TP
0
success; also after throttling, counted losses or salvage, for a running recording, and if the pipe was closed
.TP
1
a check failed
.TP
2
wrong usage; the message lists the valid choices
.TP
3
unreadable: the file does not exist or is not a recording
.TP
4
damaged bytes were skipped; the rest was shown
.TP
5
cannot attach
.TP
6
cannot write the output
)";

}  // namespace

std::string ManPage(const CommandGroups& groups) {
  std::string page = Begin("heaprec", "allocation profiler for HotSpot JVMs: records samples and analyses recordings");
  page += ".SH SYNOPSIS\n\\fBheaprec\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n.SH COMMANDS\n";
  std::vector<std::string> pages;
  for (const CommandGroup& group : groups) {
    page += fmt::format(".SS {}\n", Escaped(group.name));
    for (const Command& command : group.commands) {
      page += Tagged("\\fB" + Escaped(command.name) + "\\fR", command.text);
      pages.push_back(fmt::format(".BR heaprec\\-{} (1)", Escaped(command.name)));
    }
  }
  return page + kExit + fmt::format(".SH SEE ALSO\n{}\n", fmt::join(pages, ",\n"));
}

std::string ManPage(const Command& command) {
  std::string page = Begin("heaprec-" + command.name, command.text);
  page += fmt::format(".SH SYNOPSIS\n{}\n", Escaped(Usage(command)));
  page += Options(command.options) + Notes(command.footer) + kExit;
  return page + ".SH SEE ALSO\n.BR heaprec (1)\n";
}

}  // namespace heaprec::tools
