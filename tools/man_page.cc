#include "tools/man_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "format/version.h"

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

std::string OptionLine(const OptionDescription& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.names) names.push_back("\\fB" + Escaped(name) + "\\fR");
  const std::string value =
      option.value.empty() || option.is_positional ? "" : " \\fI" + Escaped(option.value) + "\\fR";
  return fmt::format("{}{}", fmt::join(names, ", "), value);
}

std::string Options(const std::vector<OptionDescription>& options) {
  std::string text = ".SH OPTIONS\n", group;
  for (const OptionDescription& option : options) {
    if (option.group != group) text += fmt::format(".SS {}\n", Escaped(option.group));
    group = option.group;
    std::string help = option.text;
    if (!option.choices.empty()) help += fmt::format(" [{}]", fmt::join(option.choices, ", "));
    text += Tagged(OptionLine(option), help);
  }
  return text;
}

std::string Notes(const std::string& footer) {
  return footer.empty() ? "" : fmt::format(".SH NOTES\n.nf\n{}\n.fi\n", Escaped(footer));
}

constexpr const char* kExit = R"(.SH EXIT STATUS
.TP
0
ok; also after throttling, counted losses and salvage, on a recording that still runs, and when a pipe closes
.TP
1
a check failed
.TP
2
wrong usage; the message names what is valid
.TP
3
unreadable: no such file, or not a recording
.TP
4
damaged bytes were skipped; what could be decoded was shown
.TP
5
cannot attach
.TP
6
cannot write the output
)";

}  // namespace

std::string ManPage(const CommandDescription& command) {
  std::string page = Begin(command.name, command.text);
  page += fmt::format(".SH SYNOPSIS\n\\fB{}\\fR \\fIVERB\\fR [\\fIOPTIONS\\fR]\n.SH VERBS\n", command.name);
  for (const VerbDescription& verb : command.verbs) page += Tagged("\\fB" + Escaped(verb.name) + "\\fR", verb.text);
  page += Options(command.options) + Notes(command.footer) + kExit + ".SH SEE ALSO\n";
  for (const VerbDescription& verb : command.verbs) {
    page +=
        fmt::format(".BR {}\\-{} (1){}\n", command.name, Escaped(verb.name), &verb == &command.verbs.back() ? "" : ",");
  }
  return page;
}

std::string ManPage(const CommandDescription& command, const VerbDescription& verb) {
  const std::string title = command.name + "-" + verb.name;
  std::string page = Begin(title, verb.text);
  page += fmt::format(".SH SYNOPSIS\n\\fB{} {}\\fR [\\fIOPTIONS\\fR]", command.name, verb.name);
  for (const OptionDescription& option : verb.options) {
    if (!option.is_positional) continue;
    const std::string name = fmt::format("\\fI{}\\fR{}", Escaped(option.names[0]), option.is_list ? "..." : "");
    page += option.is_required ? " " + name : " [" + name + "]";
  }
  page += "\n" + Options(verb.options) + Notes(verb.footer) + kExit;
  return page + fmt::format(".SH SEE ALSO\n.BR {} (1)\n", command.name);
}

}  // namespace heaprec::tools
