/* Operators written in C. A kernel is one function; msvm_register_operator() gives it a name that programs call. From Python,
 * msvm.ops.custom() takes the address of such a function (docs/custom_operators.md). */
#ifndef MSVM_OPERATOR_C_H
#define MSVM_OPERATOR_C_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum msvm_dtype {
  MSVM_F64 = 0, MSVM_F32, MSVM_F16, MSVM_BF16, MSVM_I8, MSVM_I16, MSVM_I32, MSVM_I64, MSVM_U8, MSVM_U16, MSVM_U32, MSVM_U64, MSVM_BOOL
} msvm_dtype;

/* Strides count elements, may be 0, are never negative. Of an empty tensor `data` may be null. */
typedef struct msvm_tensor {
  void* data;
  int32_t dtype; /* msvm_dtype; -1: an optional input that is absent */
  int32_t rank;  /* of an output: -1 until it is allocated */
  const int64_t* shape;
  const int64_t* strides;
} msvm_tensor;

/* Valid until the kernel returns. Inputs are only read; every element of every output is written. */
typedef struct msvm_call {
  int32_t num_inputs, num_outputs, num_args;
  const msvm_tensor* inputs;
  const msvm_tensor* outputs;
  const int64_t* args; /* sizes */
  /* For an output of rank -1, before it is written: fills in outputs[index]. 0, or nonzero: return it. */
  int (*allocate_output)(const struct msvm_call* call, int32_t index, int32_t rank, const int64_t* shape);
  /* The attribute, if the call has it: 1, and *value is set; else 0. Strings live as long as the call. */
  int (*int_attribute)(const struct msvm_call* call, const char* name, int64_t* value);
  int (*float_attribute)(const struct msvm_call* call, const char* name, double* value);
  int (*string_attribute)(const struct msvm_call* call, const char* name, const char** value);
  /* What the error says if the kernel returns nonzero. */
  void (*set_error)(const struct msvm_call* call, const char* message);
  void* host; /* not the kernel's */
} msvm_call;

/* On the thread that runs the program, several threads may be in it at once. 0: done. */
typedef int (*msvm_kernel)(void* state, const msvm_call* call);

typedef struct msvm_operator {
  const char* name;      /* "custom.my_filter" */
  int32_t min_inputs, max_inputs;
  int32_t min_outputs, max_outputs; /* up to 64 */
  int32_t max_args;
  int32_t effect;        /* nonzero: runs as often and in the order that the program says, though nobody reads its outputs */
  int32_t like_input;    /* outputs have dtype and shape of this input; -1: those that the program declares */
  msvm_kernel kernel;
  void* state;
  /* When neither a program nor the table holds the operator any more; may be null. Not called if registering fails, or if the same
   * kernel and state have that name already. */
  void (*free_state)(void* state);
} msvm_operator;

/* 0, or nonzero with a message in `error` (of `error_bytes` bytes; may be null). Another definition of a name needs `replace`. */
int msvm_register_operator(const msvm_operator* definition, int replace, char* error, size_t error_bytes);

#ifdef __cplusplus
}
#endif
#endif
