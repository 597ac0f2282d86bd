import { definition, inline, type HelperTexts } from "./inline.ts";

const generic = "template <class T> ";

/** Memory: indexes, lengths, and accesses that neither vanish nor are torn. */
export const memoryHelpers = {
  /** A length as the language has it, an i32. */
  length: inline("int length(long long elements)", "return elements < 0x7fffffffll ? int(elements) : 0x7fffffff;"),
  /** Relaxed atomic accesses. */
  atomic_load: {
    needs: [],
    text: generic + definition("T atomic_load(const T* element)", "return *(const volatile T*)element;"),
  },
  atomic_store: {
    needs: [],
    text: generic + definition("void atomic_store(T* element, T value)", "*(volatile T*)element = value;"),
  },
} as const satisfies HelperTexts;
