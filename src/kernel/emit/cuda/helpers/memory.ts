import { deviceFunctionText, type HelperText, type HelperTexts, inlineHelper } from "./inline.ts";

const generic = "template <class T> ";

/**
 * The CUDA helper functions for memory: array lengths, atomic loads and stores, and asynchronous copies to shared
 * memory.
 */
export const memoryHelpers = {
  /** A length as the language has it, an i32. */
  length: inlineHelper(
    "int length(long long elements)",
    "return elements < 0x7fffffffll ? int(elements) : 0x7fffffff;",
  ),
  /** Relaxed atomic accesses. */
  atomic_load: {
    needs: [],
    text: generic + deviceFunctionText("T atomic_load(const T* element)", "return *(const volatile T*)element;"),
  },
  atomic_store: {
    needs: [],
    text: generic + deviceFunctionText("void atomic_store(T* element, T value)", "*(volatile T*)element = value;"),
  },
  fetch_4: fetch(4),
  fetch_8: fetch(8),
  fetch_16: fetch(16),
  /**
   * Waits until at most the newest n groups of fetches are under way; what was fetched since the last time is a group.
   */
  await_fetches: {
    needs: [],
    text: [
      "template <int n>",
      deviceFunctionText(
        "void await_fetches()",
        "#ifndef FK_EXACT",
        "#if __CUDA_ARCH__ >= 800",
        'asm("cp.async.commit_group;" ::: "memory");',
        'asm("cp.async.wait_group %0;" :: "n"(n) : "memory");',
        "#endif",
        "#endif",
      ).replaceAll("  #", "#"),
    ].join("\n"),
  },
} as const satisfies HelperTexts;

/**
 * Returns the helper that copies a number of bytes to shared memory asynchronously, where the GPU can; copies of 16
 * bytes bypass the multiprocessor's own cache. With FK_EXACT, for other compilers too, the copy is synchronous. The
 * array's address is converted by itself and the index added in 32 bits, because NVRTC, unlike nvcc, keeps 64 bits for
 * each sum.
 */
function fetch(bytes: 4 | 8 | 16): HelperText {
  const copy = `cp.async.${bytes === 16 ? "cg" : "ca"}.shared.global [%0], [%1], ${bytes};`;
  const text = deviceFunctionText(
    `void fetch_${bytes}(T* array, int index, const T* from)`,
    "#ifndef FK_EXACT",
    "#if __CUDA_ARCH__ >= 800",
    `asm("${copy}" :: "r"((unsigned)__cvta_generic_to_shared(array) + unsigned(index) * unsigned(sizeof(T))), "l"(from) : "memory");`,
    "return;",
    "#endif",
    "#endif",
    `for (int k = 0; k < ${bytes} / int(sizeof(T)); k++) array[index + k] = from[k];`,
  );
  return { needs: [], text: generic + text.replaceAll("  #", "#") };
}
