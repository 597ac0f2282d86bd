// Calls a kernel with an array of pointers to its arguments, whatever their types. Used by the text after the source.
template <int... I> struct fk_indices {};
template <class T> struct fk_is_pointer { static constexpr unsigned char value = 0; };
template <class T> struct fk_is_pointer<T*> { static constexpr unsigned char value = 1; };
template <class T> struct fk_plain { typedef T type; };
template <class T> struct fk_plain<const T> { typedef T type; };

template <auto F, class S = decltype(F)> struct fk_entry;
template <auto F, class... A> struct fk_entry<F, void (*)(A...)> {
  static constexpr int count = sizeof...(A);
  static constexpr unsigned sizes[count + 1] = {sizeof(A)..., 0};
  static constexpr unsigned char pointers[count + 1] = {fk_is_pointer<typename fk_plain<A>::type>::value..., 0};
  template <int... I> static void call(void** p, fk_indices<I...>) { F(*(A*)p[I]...); }
  static void thread(void** p) { call(p, fk_indices<__integer_pack(count)...>()); }
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
#define FK_KERNEL(name, bounds) \
  {#name, fk_entry<&name>::thread, fk_entry<&name>::block, fk_entry<&name>::count, fk_entry<&name>::sizes, \
   fk_entry<&name>::pointers, (int)(bounds)}
#define FK_MODULE \
  extern "C" __attribute__((visibility("default"))) void fk_module_info(fk_module* m) { \
    *m = {&fk_run, &threadIdx, &blockIdx, &blockDim, &gridDim, &fk_dynamic_shared, __start_fk_shared, __stop_fk_shared, \
      fk_kernels, (int)(sizeof fk_kernels / sizeof *fk_kernels)}; \
  }
