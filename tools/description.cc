#include "tools/description.h"

#include <string_view>

namespace heaprec::tools {
namespace {

// CLI11 tells of a check only in words: "KIND:{tlab,outside}", "N:NONNEGATIVE".
std::vector<std::string> ChoicesIn(std::string_view type) {
  std::vector<std::string> choices;
  const size_t begin = type.find('{'), end = type.find('}');
  if (begin == std::string_view::npos || end == std::string_view::npos) return choices;
  type = type.substr(begin + 1, end - begin - 1);
  for (size_t comma; (comma = type.find(',')) != std::string_view::npos; type.remove_prefix(comma + 1)) {
    choices.emplace_back(type.substr(0, comma));
  }
  choices.emplace_back(type);
  return choices;
}

OptionDescription Describe(const CLI::Option& option) {
  OptionDescription description;
  const std::string type = option.get_type_name();
  for (const std::string& name : option.get_snames()) description.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) description.names.push_back("--" + name);
  description.is_positional = !option.nonpositional();
  if (description.is_positional) description.names = {option.get_name(true)};
  if (option.get_type_size_max() > 0) description.value = type.substr(0, type.find(':'));
  if (description.value.empty() && option.get_type_size_max() > 0) description.value = option.get_name(true);
  description.text = option.get_description();
  if (option.get_group() != "Options") description.group = option.get_group();
  description.choices = ChoicesIn(type);
  description.is_required = option.get_required();
  description.is_list = option.get_items_expected_max() > 1;
  return description;
}

std::vector<OptionDescription> OptionsOf(const CLI::App& app) {
  std::vector<OptionDescription> options;
  for (const CLI::Option* option : app.get_options()) options.push_back(Describe(*option));
  return options;
}

}  // namespace

CommandDescription Describe(const CLI::App& command) {
  CommandDescription description{
      command.get_name(), command.get_description(), command.get_footer(), OptionsOf(command), {}};
  for (const CLI::App* verb : command.get_subcommands([](const CLI::App*) { return true; })) {
    const std::string footer = verb->get_footer() == command.get_footer() ? "" : verb->get_footer();
    description.verbs.push_back({verb->get_name(), verb->get_description(), footer, OptionsOf(*verb)});
  }
  return description;
}

}  // namespace heaprec::tools
