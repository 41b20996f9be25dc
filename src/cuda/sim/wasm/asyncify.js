/* The imports of switch.cpp, for Emscripten's linker. Asyncify replaces them by functions in WebAssembly. */
mergeInto(LibraryManager.library, {
  start_unwind: function() {},
  stop_unwind: function() {},
  start_rewind: function() {},
  stop_rewind: function() {},
});
