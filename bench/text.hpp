// Line-by-line reading of the plain text our Rust bench writes for peers. Every refusal names the file, the line and the field.
#pragma once
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>

class TextFile {
public:
  explicit TextFile(const std::string& path) : path_(path), stream_(path) {
    if (!stream_) throw std::runtime_error("cannot open " + path);
  }

  // Moves to the next line that holds anything but blanks or a comment; false at the end of the file.
  bool next_line() {
    while (std::getline(stream_, line_)) {
      ++number_;
      at_ = 0;
      if (!at_end()) return true;
    }
    if (stream_.bad()) throw std::runtime_error("cannot read " + path_);
    return false;
  }

  std::string word(const char* what) {
    if (at_end()) fail(std::string("expected ") + what + ", got the end of the line");
    const size_t start = at_;
    at_ = std::min(line_.find_first_of(blanks, at_), line_.size());
    return line_.substr(start, at_ - start);
  }

  double number(const char* what) {
    const double x = parse<double>(what, "a number");
    if (!std::isfinite(x)) fail(std::string(what) + " is not finite");
    return x;
  }

  int integer(const char* what) { return parse<int>(what, "an integer"); }

  // The rest of the line as it stands: model names may hold blanks and '#'.
  std::string rest(const char* what) {
    if (at_end()) fail(std::string("expected ") + what + ", got the end of the line");
    std::string text = line_.substr(at_, line_.find_last_not_of(blanks) + 1 - at_);
    at_ = line_.size();
    return text;
  }

  void expect_end() {
    if (!at_end()) fail("expected the end of the line, got \"" + word("") + "\"");
  }

  [[noreturn]] void fail(const std::string& message) const {
    throw std::runtime_error(path_ + ":" + std::to_string(number_) + ": " + message);
  }

private:
  static constexpr const char* blanks = " \t\r";

  bool at_end() {
    at_ = std::min(line_.find_first_not_of(blanks, at_), line_.size());
    return at_ == line_.size() || line_[at_] == '#';
  }

  template <class T> T parse(const char* what, const char* kind) {
    const std::string text = word(what);
    T value{};
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || stop != text.data() + text.size())
      fail(std::string("expected ") + kind + " for " + what + ", got \"" + text + "\"");
    return value;
  }

  std::string path_;
  std::ifstream stream_;
  std::string line_;
  size_t at_ = 0;       // first unread character of line_
  size_t number_ = 0;   // of line_, from 1
};

// The main of a peer's program: runs it; what it throws is its last words on stderr.
inline int guarded(const char* program, void (*run)(int, char**), int argc, char** argv) {
  try {
    run(argc, argv);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", program, error.what());
    return 1;
  }
}
