#include "source.h"

#include <cctype>

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

std::size_t skipSpace(const std::string& s, std::size_t i) {
  while (i < s.size() && std::isspace(static_cast<unsigned char>(s[i]))) i++;
  return i;
}

/** The place after `words`, which white space may separate, or npos when something else stands at `i`. */
std::size_t skipWords(const std::string& s, std::size_t i, std::initializer_list<const char*> words) {
  for (const std::string word : words) {
    i = skipSpace(s, i);
    if (s.compare(i, word.size(), word) != 0) return std::string::npos;
    i += word.size();
  }
  return i;
}

std::size_t closingBrace(const std::string& s, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < s.size(); i++) {
    if (s[i] == '{') depth++;
    if (s[i] == '}' && --depth == 0) return i;
  }
  return s.size();
}

/** Whether `at` stands after `extern "C"`, in the same declaration or inside its braces. */
bool isExternC(const std::string& s, std::size_t at) {
  for (std::size_t i = s.find("extern"); i < at; i = s.find("extern", i + 1)) {
    const std::size_t after = skipWords(s, i, {"extern", "\"C\""});
    if (after == std::string::npos) continue;
    const std::size_t next = skipSpace(s, after);
    const std::size_t end = next < s.size() && s[next] == '{' ? closingBrace(s, next) : s.find_first_of(";{", next);
    if (at < end) return true;
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

struct DynamicShared {
  std::size_t from, to;  // the declaration, semicolon included
  std::string type, name;
};

std::string trim(const std::string& s) {
  const std::size_t from = s.find_first_not_of(" \t\n"), to = s.find_last_not_of(" \t\n");
  return from == std::string::npos ? "" : s.substr(from, to - from + 1);
}

/** Reads `extern __shared__ [__align__(n)] T name[];` at `at`; false when something else stands there. */
bool readDynamicShared(const std::string& s, std::size_t at, DynamicShared& found) {
  std::size_t i = skipWords(s, at, {"extern", "__shared__"});
  if (i == std::string::npos) return false;
  for (const char* word : {"__align__", "alignas"}) {
    const std::size_t after = skipWords(s, i, {word});
    if (after != std::string::npos) i = closing(s, s.find('(', after)) + 1;
  }
  const std::size_t bracket = s.find('[', i), end = s.find(';', i);
  if (bracket == std::string::npos || end == std::string::npos || bracket > end) return false;
  const std::string declaration = trim(s.substr(i, bracket - i));
  std::size_t start = declaration.size();
  while (start > 0 && isWord(declaration[start - 1])) start--;
  found = {at, end + 1, trim(declaration.substr(0, start)), declaration.substr(start)};
  return true;
}

/** `extern __shared__ T name[];` becomes a pointer to the launch's dynamic shared memory. */
std::string replaceDynamicShared(const std::string& source, const std::string& blanked) {
  std::string out;
  std::size_t from = 0;
  for (std::size_t at = blanked.find("extern"); at != std::string::npos; at = blanked.find("extern", at + 1)) {
    DynamicShared found;
    if (!readDynamicShared(blanked, at, found)) continue;
    int depth = 0;
    for (std::size_t i = 0; i < at; i++) depth += blanked[i] == '{' ? 1 : blanked[i] == '}' ? -1 : 0;
    out += source.substr(from, at - from);
    from = found.to;
    const std::string pointer = "(" + found.type + "*)fkemu_dynamic_shared";
    if (depth > 0) {
      out += found.type + "* const " + found.name + " = " + pointer + ";";
      continue;
    }
    std::size_t line = 1;
    for (std::size_t i = 0; i < from; i++) line += blanked[i] == '\n';
    out += "\n#undef " + found.name + "\n#define " + found.name + " (" + pointer + ")\n#line " + std::to_string(line) + "\n";
  }
  return out + source.substr(from);
}

}  // namespace

Translated translate(const std::string& source, const std::string& fileName) {
  const std::string blanked = blank(source);
  const std::vector<KernelText> kernels = findKernels(blanked);
  std::string text = "#line 1 \"" + fileName + "\"\n" + replaceDynamicShared(source, blanked);
  text += "\n#line 1 \"<launchers>\"\nstatic const fkemu_kernel fkemu_kernels[] = {\n";
  for (const KernelText& k : kernels) text += "  FKEMU_KERNEL(" + k.name + ", " + k.bounds + "),\n";
  if (kernels.empty()) text += "  {\"\", 0, 0, 0, 0, 0, 0}\n";
  text += "};\nFKEMU_MODULE\n";
  return {text, needsFibers(blanked), static_cast<int>(kernels.size())};
}

}  // namespace fkemu
