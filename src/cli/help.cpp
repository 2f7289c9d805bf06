#include "cli/help.h"

#include <fmt/format.h>

#include <memory>

#include "cli/terminal.h"
#include "report/text/format.h"

namespace gf::cli {

namespace {

/// "  --name VALUE   what it does", the description wrapped beside the first column, or below it
/// where the name is too long.
std::string entry(const std::string& name, const std::string& description, std::size_t column) {
  const std::string head = "  " + name;
  std::string body = wrap(description, static_cast<std::size_t>(text_style(false).width), column);
  if (body.empty()) return head + "\n";
  return head.size() + 2 > column ? head + "\n" + body : head + body.substr(head.size());
}

class Help : public CLI::Formatter {
 public:
  Help() { column_width(28); }

  std::string make_description(const CLI::App* app) const override {
    return wrap(app->get_description(), static_cast<std::size_t>(text_style(false).width));
  }

  std::string make_usage(const CLI::App* app, std::string name) const override {
    std::string usage = "\nUsage: " + name + " [OPTIONS]";
    for (const auto* opt :
         app->get_options([](const CLI::Option* o) { return o->get_positional(); }))
      usage += opt->get_required() ? " " + value_of(*opt) : " [" + value_of(*opt) + "]";
    if (!app->get_subcommands({}).empty()) usage += " VERB ...";
    return usage + "\n";
  }

  std::string make_option(const CLI::Option* opt, bool positional) const override {
    const std::string value = value_of(*opt);
    std::string name = opt->get_name(false, true);
    if (positional)
      name = value;
    else if (const auto comma = name.find(','); comma != name.npos)
      name.replace(comma, 1, ", ");
    return entry(positional || value.empty() ? name : name + " " + value, opt->get_description(),
                 get_column_width());
  }

  std::string make_subcommands(const CLI::App* app, CLI::AppFormatMode) const override {
    std::string verbs;
    for (const auto* verb : app->get_subcommands({}))
      verbs += entry(verb->get_name(), verb->get_description(), 13);
    return verbs.empty() ? verbs : "\nVerbs:\n" + verbs;
  }

 private:
  /// What stands for an option's value; flags have none.
  static std::string value_of(const CLI::Option& opt) {
    return opt.get_type_size() == 0 ? std::string() : opt.get_option_text();
  }
};

CLI::Validator number_that(bool (*holds)(double), const char* wanted) {
  return CLI::Validator(
      [=](std::string& text) {
        double value = 0;
        const bool number = CLI::detail::lexical_cast(text, value);
        return number && holds(value) ? std::string() : fmt::format("{} is no {}", text, wanted);
      },
      "");
}

std::string complaint(const CLI::App* app, const CLI::Error& e) {
  const auto verbs = app->get_subcommands();
  const std::string help =
      verbs.empty() ? "gpufathom --help" : "gpufathom " + verbs.front()->get_name() + " --help";
  return fmt::format("gpufathom: {} ({} tells more)\n", e.what(), help);
}

}  // namespace

void set_up_help(CLI::App& app) {
  app.formatter(std::make_shared<Help>());
  app.failure_message(complaint);
  app.get_formatter()->label("Positionals", "Arguments");
}

CLI::Validator positive() {
  return number_that([](double v) { return v > 0; }, "number above 0");
}

CLI::Validator not_negative() {
  return number_that([](double v) { return v >= 0; }, "number of 0 or more");
}

}  // namespace gf::cli
