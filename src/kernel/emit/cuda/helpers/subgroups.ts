import type { KernelIR } from "../../../ir.ts";
import { deviceFunctionText, type HelperText, type HelperTexts } from "./inline.ts";

const generic = "template <class T> ";
const templated = (signature: string, ...body: readonly string[]): string =>
  generic + deviceFunctionText(signature, ...body);

/** Tells whether every warp of a workgroup has all of its 32 lanes. */
export const hasFullWarps = ({ groupSize }: KernelIR): boolean => groupSize % 32 === 0;

/**
 * The CUDA helper functions for subgroup operations. A subgroup is a warp: 32 consecutive work items, or fewer at the
 * end of a workgroup whose size 32 does not divide. All work items of the workgroup reach each exchange, so that the
 * participation mask names every existing lane.
 */
export const subgroupHelpers = {
  lanes: {
    needs: [],
    text: (ir) =>
      hasFullWarps(ir)
        ? deviceFunctionText("unsigned lanes()", "return 32u;")
        : deviceFunctionText(
            "unsigned lanes()",
            "const unsigned first = threadIdx.x & ~31u;",
            `return first + 32u <= ${ir.groupSize}u ? 32u : ${ir.groupSize}u - first;`,
          ),
  },
  mask: { needs: ["lanes"], text: deviceFunctionText("unsigned mask()", "return 0xffffffffu >> (32u - lanes());") },
  /** The value of `lane`; of a lane outside, an item's own. */
  shuffle: {
    needs: ["lanes", "mask"],
    text: templated(
      "T shuffle(T value, unsigned lane)",
      "return __shfl_sync(mask(), value, int(lane < lanes() ? lane : threadIdx.x & 31u));",
    ),
  },
  reduce_add_real: reduction("add_real", "value + other"),
  reduce_add_i32: reduction("add_i32", "int(unsigned(value) + unsigned(other))"),
  reduce_add_u32: reduction("add_u32", "value + other"),
  reduce_min: withInstruction("min", reduction("min", "other < value ? other : value")),
  reduce_max: withInstruction("max", reduction("max", "other > value ? other : value")),
} as const satisfies HelperTexts;

type Reduction = HelperText & { readonly text: (ir: KernelIR) => string };

/** Returns a minimum or maximum of integers. From sm_80 on there is an instruction for full warps. */
function withInstruction(name: "min" | "max", general: Reduction): HelperText {
  const overload = (type: string): string =>
    deviceFunctionText(`${type} reduce_${name}(${type} value)`, `return __reduce_${name}_sync(0xffffffffu, value);`);
  const text = (ir: KernelIR): string =>
    general.text(ir) +
    (hasFullWarps(ir) ? `\n#if __CUDA_ARCH__ >= 800\n${overload("int")}\n${overload("unsigned")}\n#endif\n` : "");
  return { ...general, text };
}

/**
 * Prints a reduction in a fixed order: v₀ + v₁₆, …, then the halves of the result. Lanes that do not exist add nothing
 * to lane 0, whose result is then broadcast.
 */
function reduction(name: string, combined: string): Reduction {
  const full = [
    "for (int step = 16; step > 0; step /= 2) {",
    "  const T other = __shfl_xor_sync(0xffffffffu, value, step);",
    `  value = ${combined};`,
    "}",
    "return value;",
  ];
  const partial = [
    "const unsigned lane = threadIdx.x & 31u;",
    "for (unsigned step = 16u; step > 0u; step /= 2u) {",
    "  const T other = shuffle(value, lane + step);",
    `  if (lane + step < lanes()) value = ${combined};`,
    "}",
    "return shuffle(value, 0u);",
  ];
  return {
    needs: ["lanes", "mask", "shuffle"],
    text: (ir) => templated(`T reduce_${name}(T value)`, ...(hasFullWarps(ir) ? full : partial)),
  };
}
