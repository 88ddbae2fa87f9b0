"""What Numba is taught here, so that plain Python bodies become one fast loop.

Selectron compiles one loop for any three rules. The loop calls *verbs* such as `glance` or `learn`
(`selectron.protocol`), and each rule gives a verb its plain body. Numba compiles loop and bodies
into one function, a *kernel*. Without Numba (`NUMBA_DISABLE_JIT=1`) the same bodies run as Python
and give the same bits. Numba alone does not know how to choose a body, how to keep a state between
calls, how to sum in a fixed order, or when its cache is stale. The files of this room teach it.

Read them in this order:

- `verbs.py`: a `Verb` chooses its body by the type of its first argument. `helper` lets bodies call
  a function. `kernel` compiles a loop, and `digest` hashes the code that it is made of.
- `cache.py`: where compiled loops are kept, for all environments of a user.
- `inlining.py`: bodies exist only within kernels, so Numba makes no machine code of them alone.
- `replacing.py`: `state._replace(n=...)` in compiled code.
- `emitting.py`: a plain function gets a second form that emits LLVM code.
- `states.py`: a state is a NamedTuple; `unpack` and `pack` keep its numbers in a vector.
- `lanes.py`: loops over arrays by vectors, in a fixed order, and hints to the memory.
- `raw_arrays.py` and `handles.py`: arguments that Numba need not unbox, for calls with one row.
- `numba_internals.py`: all private names of Numba, imported in this file only.

How a verb becomes part of a loop. `Verb` registers itself with Numba as an overload. When Numba
meets `learn(update, ...)` in a loop, it asks the verb for the body that belongs to the type of
`update`. It compiles that body as an `Ingredient` and inlines it. The verbs that the body calls
come in the same way. LLVM then optimises the whole kernel, and drops calls that do nothing.

How the cache on disk is keyed. Numba stores a kernel by the file of its loop, the types of its
arguments and the name of the CPU. It does not see that a body in another file was edited. So
`kernel` names each loop after a digest. The digest covers which body serves which verb, and the
code and the constants of all modules that these bodies use. An edited rule has another digest and
is compiled anew; the kernels of all other rules stay.

How a call with one row finds its learner. Such a call is shorter than the time in which Numba
unboxes a learner. So Python writes the learner's fields once as words in a row, a `Handle`, and
passes the handle. The kernel rebuilds the learner from the words (`held`). The numbers of a learner
change from call to call, so they live in a vector beside it (`unpack`, `pack`). The row comes as
the Python object that it is, and the kernel itself looks whether it can read it (`fits`). If it
cannot, the kernel changes nothing and returns NaN, and Python converts the row.
"""
