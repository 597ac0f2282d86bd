// Calls a kernel with an array of pointers to its arguments, whatever their types. Used by the text after the source.
template <int... I> struct fkemu_indices {};
template <class T> struct fkemu_is_pointer { static constexpr unsigned char value = 0; };
template <class T> struct fkemu_is_pointer<T*> { static constexpr unsigned char value = 1; };
template <class T> struct fkemu_plain { typedef T type; };
template <class T> struct fkemu_plain<const T> { typedef T type; };

template <auto F, class S = decltype(F)> struct fkemu_entry;
template <auto F, class... A> struct fkemu_entry<F, void (*)(A...)> {
  static constexpr int count = sizeof...(A);
  static constexpr unsigned sizes[count + 1] = {sizeof(A)..., 0};
  static constexpr unsigned char pointers[count + 1] = {fkemu_is_pointer<typename fkemu_plain<A>::type>::value..., 0};
  template <int... I> static void call(void** p, fkemu_indices<I...>) { F(*(A*)p[I]...); }
  static void thread(void** p) { call(p, fkemu_indices<__integer_pack(count)...>()); }
  static void block(void** p, int reverse) {
    const unsigned n = blockDim.x * blockDim.y * blockDim.z;
    for (unsigned k = 0; k < n; k++) {
      const unsigned t = reverse ? n - 1 - k : k;
      threadIdx.x = t % blockDim.x;
      threadIdx.y = t / blockDim.x % blockDim.y;
      threadIdx.z = t / (blockDim.x * blockDim.y);
      thread(p);
    }
  }
};
#define FKEMU_KERNEL(name, bounds) \
  {#name, fkemu_entry<&name>::thread, fkemu_entry<&name>::block, fkemu_entry<&name>::count, fkemu_entry<&name>::sizes, \
   fkemu_entry<&name>::pointers, (int)(bounds)}
#define FKEMU_MODULE \
  extern "C" __attribute__((visibility("default"))) void fkemu_module_info(fkemu_module* m) { \
    *m = {&fkemu_run, &threadIdx, &blockIdx, &blockDim, &gridDim, &fkemu_dynamic_shared, __start_fkemu_shared, __stop_fkemu_shared, \
      fkemu_kernels, (int)(sizeof fkemu_kernels / sizeof *fkemu_kernels)}; \
  }
