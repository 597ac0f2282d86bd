#include "source.h"

#include <cctype>
#include <regex>

namespace fkemu {
namespace {

/** The source with comments and the insides of literals blanked, every offset and line kept. */
std::string blank(const std::string& s) {
  std::string out = s;
  auto wipe = [&](std::size_t i) { if (out[i] != '\n') out[i] = ' '; };
  for (std::size_t i = 0; i < s.size();) {
    if (s.compare(i, 2, "//") == 0) {
      while (i < s.size() && s[i] != '\n') wipe(i++);
    } else if (s.compare(i, 2, "/*") == 0) {
      std::size_t end = s.find("*/", i + 2);
      end = end == std::string::npos ? s.size() : end + 2;
      while (i < end) wipe(i++);
    } else if (s[i] == '"') {
      for (i++; i < s.size() && s[i] != '"' && s[i] != '\n'; i++) {
        if (s[i] == '\\') i++;
        // The C of extern "C" stays.
        else if (!(s[i] == 'C' && s[i - 1] == '"' && s[i + 1] == '"')) wipe(i);
      }
      i++;
    } else {
      i++;
    }
  }
  return out;
}

bool isWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

bool hasWord(const std::string& s, const std::string& word) {
  for (std::size_t at = s.find(word); at != std::string::npos; at = s.find(word, at + 1)) {
    const bool starts = at == 0 || !isWord(s[at - 1]);
    if (starts && !isWord(s[at + word.size()])) return true;
  }
  return false;
}

bool needsFibers(const std::string& s) {
  for (const char* word : {"__syncthreads", "__syncthreads_count", "__syncthreads_and", "__syncthreads_or", "__syncwarp",
                           "__activemask"})
    if (hasWord(s, word)) return true;
  for (std::size_t at = s.find("_sync"); at != std::string::npos; at = s.find("_sync", at + 1))
    if (at + 5 == s.size() || !isWord(s[at + 5])) return true;
  return false;
}

std::size_t closing(const std::string& s, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < s.size(); i++) {
    if (s[i] == '(') depth++;
    if (s[i] == ')' && --depth == 0) return i;
  }
  return std::string::npos;
}

std::string firstArgument(const std::string& s, std::size_t open, std::size_t close) {
  int depth = 0;
  for (std::size_t i = open + 1; i < close; i++) {
    if (s[i] == '(') depth++;
    if (s[i] == ')') depth--;
    if (s[i] == ',' && depth == 0) return s.substr(open + 1, i - open - 1);
  }
  return s.substr(open + 1, close - open - 1);
}

/** Whether `at` stands after `extern "C"`, in the same declaration or inside its braces. */
bool isExternC(const std::string& s, std::size_t at) {
  const std::size_t start = s.find_last_of(";}", at);
  const std::size_t from = start == std::string::npos ? 0 : start + 1;
  static const std::regex direct("extern\\s*\"C\"");
  if (std::regex_search(s.substr(from, at - from), direct)) return true;
  static const std::regex block("extern\\s*\"C\"\\s*\\{");
  for (std::sregex_iterator it(s.begin(), s.begin() + static_cast<long>(at), block), end; it != end; ++it) {
    int depth = 1;
    for (std::size_t i = static_cast<std::size_t>(it->position() + it->length()); i < at && depth > 0; i++)
      depth += s[i] == '{' ? 1 : s[i] == '}' ? -1 : 0;
    if (depth > 0) return true;
  }
  return false;
}

std::vector<KernelText> findKernels(const std::string& s) {
  std::vector<KernelText> found;
  const std::string word = "__global__";
  for (std::size_t at = s.find(word); at != std::string::npos; at = s.find(word, at + 1)) {
    std::string bounds = "0", last;
    std::size_t i = at + word.size();
    while (i < s.size() && s[i] != '{' && s[i] != ';') {
      if (isWord(s[i])) {
        const std::size_t start = i;
        while (i < s.size() && isWord(s[i])) i++;
        last = s.substr(start, i - start);
      } else if (s[i] == '(') {
        const std::size_t close = closing(s, i);
        if (close == std::string::npos) return found;
        if (last == "__launch_bounds__") {
          bounds = firstArgument(s, i, close);
          i = close + 1;
          continue;
        }
        std::size_t after = close + 1;
        while (after < s.size() && std::isspace(static_cast<unsigned char>(s[after]))) after++;
        if (after < s.size() && s[after] == '{' && isExternC(s, at)) found.push_back({last, bounds});
        break;
      } else {
        i++;
      }
    }
  }
  return found;
}

/** `extern __shared__ T name[];` becomes a pointer to the launch's dynamic shared memory. */
std::string replaceDynamicShared(const std::string& source, const std::string& blanked) {
  static const std::regex pattern(
      "extern\\s+__shared__\\s+(?:(?:__align__|alignas)\\s*\\(\\s*\\d+\\s*\\)\\s*)?([A-Za-z_][\\w\\s:]*?)\\s*\\b(\\w+)\\s*\\[\\s*\\]\\s*;");
  std::string out;
  std::size_t from = 0;
  for (std::sregex_iterator it(blanked.begin(), blanked.end(), pattern), end; it != end; ++it) {
    const auto at = static_cast<std::size_t>(it->position());
    int depth = 0;
    for (std::size_t i = 0; i < at; i++) depth += blanked[i] == '{' ? 1 : blanked[i] == '}' ? -1 : 0;
    const std::string type = (*it)[1], name = (*it)[2];
    out += source.substr(from, at - from);
    from = at + static_cast<std::size_t>(it->length());
    if (depth > 0) {
      out += type + "* const " + name + " = (" + type + "*)fk_dynamic_shared;";
    } else {
      std::size_t line = 2;
      for (std::size_t i = 0; i < from; i++) line += blanked[i] == '\n';
      out += "\n#undef " + name + "\n#define " + name + " ((" + type + "*)fk_dynamic_shared)\n#line " +
             std::to_string(line - 1) + "\n";
    }
  }
  return out + source.substr(from);
}

}  // namespace

Translated translate(const std::string& source, const std::string& fileName) {
  const std::string blanked = blank(source);
  const std::vector<KernelText> kernels = findKernels(blanked);
  std::string text = "#line 1 \"" + fileName + "\"\n" + replaceDynamicShared(source, blanked);
  text += "\n#line 1 \"<launchers>\"\nstatic const fk_kernel fk_kernels[] = {\n";
  for (const KernelText& k : kernels) text += "  FK_KERNEL(" + k.name + ", " + k.bounds + "),\n";
  if (kernels.empty()) text += "  {\"\", 0, 0, 0, 0, 0, 0}\n";
  text += "};\nFK_MODULE\n";
  return {text, needsFibers(blanked), static_cast<int>(kernels.size())};
}

}  // namespace fkemu
