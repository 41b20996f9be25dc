// The debugger under the client of Visual Studio Code's tests of debug adapters (npm package @vscode/debugadapter-testsupport).
// Usage: node client_tests.js PROGRAM; tests/dap/run.sh calls it.

const assert = require('assert');
const fs = require('fs');
const net = require('net');
const os = require('os');
const path = require('path');
const { spawn } = require('child_process');
const { DebugClient } = require('@vscode/debugadapter-testsupport');

const program = process.argv[2];
const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'dap-')));

function write(name, lines) {
  const file = path.join(folder, name);
  fs.writeFileSync(file, lines.join('\n') + '\n');
  return file;
}

write('mod.lua', ['local M = {}', 'function M.scale(x, k)', '  local y = x * k', '  return y', 'end', 'return M']);
const main = write('main.lua', [
  "local mod = require 'mod'",
  'local total = 0',
  'for i = 1, 3 do',
  '  local x = torch.ones(2, 3)',
  '  local y = mod.scale(x, i)',
  '  total = total + y:sum():item()',
  'end',
  "print('total', total)",
]);
const loop = write('loop.lua', ['local n = 0', 'while not done do', '  n = n + 1', 'end', "print('done')"]);
const fails = write('fails.lua', ['local x = torch.ones(2)', 'local function f(a)', '  return a.b.c', 'end', 'f(x.nothing)']);
const nan = write('nan.lua', ['local loss = torch.zeros(2)', 'loss:div_(0)', 'local after = 1', 'print(after)']);

const tests = {
  async 'stops at a breakpoint, shows a tensor, steps'(client) {
    const mod = path.join(folder, 'mod.lua');
    await client.hitBreakpoint({ program: main, cwd: folder }, { path: mod, line: 4 });
    const { stackFrames } = (await client.stackTraceRequest({ threadId: 1 })).body;
    assert.deepEqual(stackFrames.map(frame => [frame.source.path, frame.line]), [[mod, 4], [main, 5]]);
    const { scopes } = (await client.scopesRequest({ frameId: stackFrames[0].id })).body;
    const locals = (await client.variablesRequest({ variablesReference: scopes[0].variablesReference })).body.variables;
    const y = locals.find(variable => variable.name === 'y');
    assert.equal(y.value, 'tensor [2, 3], torch.float32, cpu');
    const members = (await client.variablesRequest({ variablesReference: y.variablesReference })).body.variables;
    assert.deepEqual(members.slice(0, 3).map(m => m.name), ['shape', 'dtype', 'device']);
    const evaluated = (await client.evaluateRequest({ expression: 'y:sum():item() + k', frameId: stackFrames[0].id })).body;
    assert.equal(evaluated.result, '7.0');
    await Promise.all([client.stepOutRequest({ threadId: 1 }), client.assertStoppedLocation('step', { path: main, line: 6 })]);
    await Promise.all([client.nextRequest({ threadId: 1 }), client.assertStoppedLocation('step', { path: main, line: 3 })]);
    await client.setBreakpointsRequest({ source: { path: mod }, breakpoints: [] });
    await Promise.all([client.continueRequest({ threadId: 1 }), client.assertOutput('stdout', 'total\t36.0\n'), client.waitForEvent('terminated')]);
  },

  async 'steps into a function'(client) {
    await client.hitBreakpoint({ program: main, cwd: folder }, { path: main, line: 5 });
    await Promise.all([client.stepInRequest({ threadId: 1 }), client.assertStoppedLocation('step', { path: path.join(folder, 'mod.lua'), line: 3 })]);
  },

  async 'a condition, a hit count and a log message'(client) {
    const done = client.waitForEvent('terminated');
    const logged = client.assertOutput('stdout', 'i is 1\ni is 2\ni is 3\ntotal\t36.0\n');
    client.once('initialized', async () => {
      const { breakpoints } = (await client.setBreakpointsRequest({
        source: { path: main },
        breakpoints: [{ line: 5, condition: 'i == 2' }, { line: 6, hitCondition: '3' }, { line: 4, logMessage: 'i is {i}' }, { line: 99 }],
      })).body;
      assert.deepEqual(breakpoints.map(b => b.verified), [true, true, true, false]);
      await client.configurationDoneRequest();
    });
    await Promise.all([client.launch({ program: main, cwd: folder }), client.assertStoppedLocation('breakpoint', { path: main, line: 5 })]);
    assert.equal((await client.evaluateRequest({ expression: 'i', frameId: 1 })).body.result, '2');
    await Promise.all([client.continueRequest({ threadId: 1 }), client.assertStoppedLocation('breakpoint', { path: main, line: 6 })]);
    assert.equal((await client.evaluateRequest({ expression: 'i', frameId: 1 })).body.result, '3');
    await client.continueRequest({ threadId: 1 });
    await Promise.all([logged, done]);
  },

  async 'pauses a loop, changes a variable and lets it end'(client) {
    await Promise.all([client.configurationSequence(), client.launch({ program: loop })]);
    const done = client.waitForEvent('terminated');
    await new Promise(resolve => setTimeout(resolve, 300));
    await Promise.all([client.pauseRequest({ threadId: 1 }), client.assertStoppedLocation('pause', { path: loop })]);
    const { scopes } = (await client.scopesRequest({ frameId: 1 })).body;
    const globals = scopes.find(scope => scope.name === 'Globals');
    await client.setVariableRequest({ variablesReference: globals.variablesReference, name: 'done', value: 'true' });
    await client.continueRequest({ threadId: 1 });
    await done;
  },

  async 'sets a breakpoint while the program runs'(client) {
    await Promise.all([client.configurationSequence(), client.launch({ program: loop })]);
    await new Promise(resolve => setTimeout(resolve, 300));
    await Promise.all([
      client.setBreakpointsRequest({ source: { path: loop }, breakpoints: [{ line: 3 }] }),
      client.assertStoppedLocation('breakpoint', { path: loop, line: 3 }),
    ]);
  },

  async 'stops on entry and at an uncaught error'(client) {
    const ended = Promise.all([client.waitForEvent('exited'), client.waitForEvent('terminated')]);
    client.once('initialized', async () => {
      await client.setExceptionBreakpointsRequest({ filters: ['uncaught'] });
      await client.configurationDoneRequest();
    });
    await Promise.all([client.launch({ program: fails, stopOnEntry: true }), client.assertStoppedLocation('step', { path: fails, line: 1 })]);
    await Promise.all([client.continueRequest({ threadId: 1 }), client.assertStoppedLocation('exception', { path: fails })]);
    assert.match((await client.exceptionInfoRequest({ threadId: 1 })).body.description, /nothing/);
    await client.continueRequest({ threadId: 1 });
    const [exited] = await ended;
    assert.equal(exited.body.exitCode, 1);
  },

  async 'stops after the line that writes nan'(client) {
    client.once('initialized', async () => {
      await client.setExceptionBreakpointsRequest({ filters: [], filterOptions: [{ filterId: 'nan', condition: 'loss' }] });
      await client.configurationDoneRequest();
    });
    await Promise.all([client.launch({ program: nan }), client.assertStoppedLocation('exception', { path: nan, line: 3 })]);
  },
};

// The adapter on a port: tests that need their own client.
const port_tests = {
  async '--dap=PORT serves one client on a port'() {
    const port = 20000 + process.pid % 20000;
    const adapter = spawn(program, [`--dap=${port}`]);
    await new Promise(resolve => adapter.stderr.once('data', resolve)); // waiting for a client
    const client = new DebugClient('', '', 'ltensor');
    for (let tries = 1; ; tries++) {
      try {
        await new Promise((resolve, reject) => net.createConnection(port, '127.0.0.1').once('connect', function () {
          client._socket = this;
          client.connect(this, this);
          resolve();
        }).once('error', reject));
        break;
      } catch (refused) {
        if (tries === 50) throw refused;
        await new Promise(resolve => setTimeout(resolve, 100));
      }
    }
    await client.hitBreakpoint({ program: main, cwd: folder }, { path: main, line: 4 });
    const ended = new Promise(resolve => adapter.once('exit', resolve));
    await client.stop();
    await ended;
  },
};

(async () => {
  let failed = 0;
  for (const [title, test] of Object.entries(tests)) {
    const client = new DebugClient(program, '--dap', 'ltensor', { cwd: folder });
    client.defaultTimeout = 20000;
    try {
      await client.start();
      await test(client);
      console.log(`ok      ${title}`);
    } catch (problem) {
      failed++;
      console.log(`failed  ${title}\n${problem.stack}`);
    }
    await client.stop();
  }
  for (const [title, test] of Object.entries(port_tests)) {
    try {
      await test();
      console.log(`ok      ${title}`);
    } catch (problem) {
      failed++;
      console.log(`failed  ${title}\n${problem.stack}`);
    }
  }
  fs.rmSync(folder, { recursive: true });
  console.log(`${Object.keys(tests).length + Object.keys(port_tests).length - failed} passed, ${failed} failed`);
  process.exit(failed > 0 ? 1 : 0);
})();
