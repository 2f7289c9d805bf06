extern "C" int gpufathom_main(int argc, char** argv);

int main(int argc, char** argv) { return gpufathom_main(argc, argv); }
