// program.js - runs the program under node, with the folders of the host that tests read: the project, Lua's modules.
//
// Usage: node tests/wasm/program.js BUILD ARGUMENTS...
const fs = require("fs");
const path = require("path");

const [build, ...args] = process.argv.slice(2);
const { ltensor } = require(path.resolve(build, "ltensor.js"));

async function main() {
  let status = 0;
  const program = await ltensor({
    thisProgram: "ltensor",
    onExit: code => { status = code; },
    preRun: module => {
      Object.assign(module.ENV, process.env);
      for (const folder of [process.cwd(), "/usr/share/lua"]) {
        if (!fs.existsSync(folder)) continue;
        module.FS.mkdirTree(folder);
        module.FS.mount(module.FS.filesystems ? module.FS.filesystems.NODEFS : module.NODEFS, { root: folder }, folder);
      }
      module.FS.chdir(process.cwd());
    },
  });
  const result = program.callMain(args);
  process.exitCode = status || result || 0;
}

main().catch(error => {
  console.error(error);
  process.exitCode = 1;
});
