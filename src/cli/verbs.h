// Every verb adds its subcommand with options and a callback that leaves the exit code in
// `exit_code`.
#pragma once

namespace CLI {
class App;
}

namespace gf::cli {

void add_analyze(CLI::App& app, int& exit_code);
void add_compare(CLI::App& app, int& exit_code);
void add_export(CLI::App& app, int& exit_code);
void add_import(CLI::App& app, int& exit_code);
void add_metrics(CLI::App& app, int& exit_code);
void add_query(CLI::App& app, int& exit_code);
void add_energy(CLI::App& app, int& exit_code);
void add_calibrate(CLI::App& app, int& exit_code);
void add_monitor(CLI::App& app, int& exit_code);
void add_record(CLI::App& app, int& exit_code);
void add_doctor(CLI::App& app, int& exit_code);
void add_overhead(CLI::App& app, int& exit_code);

}  // namespace gf::cli
