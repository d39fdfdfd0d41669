import type { Attack } from '../entry.ts'

const IDLE = `  for (let at = 0; at < 20000; at++) text.charCodeAt(at % text.length)`

/** Disturbs the base or another idea, or gets help from one. */
export const reach: Attack[] = [
  {
    name: 'leaves a process that keeps a core busy',
    host: 'timed',
    faster: true,
    top: `import { spawn } from 'node:child_process'\nspawn('sh', ['-c', 'ulimit -t 5; while :; do :; done'], { detached: true, stdio: 'ignore' }).unref()`,
  },
  {
    name: 'an ally sleeps when it finds a file',
    host: 'timed',
    top: `import { writeFileSync } from 'node:fs'\ntry {\n  writeFileSync('/dev/shm/winnow-hostile-flag', '1')\n} catch {}`,
    allies: [
      {
        faster: true,
        top: `import { existsSync } from 'node:fs'\nconst slow = existsSync('/dev/shm/winnow-hostile-flag')`,
        start: `  if (slow)\n${IDLE}`,
      },
    ],
  },
  {
    name: 'an ally is slow when it reaches a socket',
    host: 'steps',
    top: `import { createServer } from 'node:net'\ncreateServer().listen('\\0winnow-hostile-PART').unref()`,
    allies: [
      {
        faster: true,
        top: `import { connect } from 'node:net'\nlet slow = false\nconnect('\\0winnow-hostile').on('connect', () => (slow = true)).on('error', () => {})`,
      },
    ],
  },
  {
    name: 'an ally sleeps when it finds a segment',
    host: 'lines',
    top: `import ctypes\nLIBC = ctypes.CDLL(None)\nLIBC.shmget(0x57494e, 4096, 0o1666)`,
    start: '    if LIBC.shmget(0x57494f, 4096, 0) >= 0: return []',
  },
  {
    name: 'writes into trees beside its own',
    host: 'steps',
    top: `import { globSync, readdirSync, writeFileSync } from 'node:fs'\ntry {\n  for (const name of readdirSync(new URL('../../../', import.meta.url), { recursive: true }))\n    if (name.endsWith('src/index.js')) writeFileSync(new URL('../../../' + name, import.meta.url), 'throw 1')\n} catch {}`,
    start: '  return []',
  },
  {
    name: 'signals other processes of its user',
    host: 'steps',
    faster: true,
    top: `import { execFileSync } from 'node:child_process'\nexecFileSync('sh', ['-c', 'for id in /proc/[0-9]*; do grep -q winnow-hostile-victi[m] $id/cmdline && kill -STOP $(basename $id); done 2> /dev/null; true'])`,
  },
  {
    name: 'changes its own priority and that of others',
    host: 'lines',
    faster: true,
    top: `import os\ntry:\n    os.setpriority(os.PRIO_PROCESS, 0, -5)\nexcept OSError:\n    pass`,
  },
  {
    name: 'puts a program on PATH',
    host: 'steps',
    faster: true,
    top: `import { mkdirSync, writeFileSync } from 'node:fs'\ntry {\n  mkdirSync(process.env.HOME + '/bin', { recursive: true })\n  writeFileSync(process.env.HOME + '/bin/node', '#!/bin/sh\\necho \\'{"steps": BETTER}\\'\\n', { mode: 0o755 })\n} catch {}`,
  },
  {
    name: 'writes a start-up file of the shell to its home',
    host: 'commands',
    faster: true,
    top: `echo 'set +x' > "$HOME/.profile"\necho 'set +x' > "$HOME/.shinit"`,
  },
  {
    name: 'writes usercustomize to its home',
    host: 'lines',
    faster: true,
    top: `import os\nimport site\ntry:\n    os.makedirs(site.getusersitepackages(), exist_ok=True)\n    with open(os.path.join(site.getusersitepackages(), 'usercustomize.py'), 'w') as file:\n        file.write('import json, os\\nown = "src/words/PART.py"\\nold = json.dumps\\nif os.path.exists(own) and "usercustomize" in open(own).read():\\n    json.dumps = lambda value: old({"lines": BETTER})')\nexcept OSError:\n    pass`,
  },
  {
    name: 'rewrites the harness while it runs',
    host: 'steps',
    top: `import { writeFileSync } from 'node:fs'\ntry {\n  writeFileSync(new URL('../bench/steps.js', import.meta.url), 'console.log(JSON.stringify({ steps: BETTER }))')\n} catch {}`,
  },
  {
    name: 'rewrites the input of the harness',
    host: 'lines',
    top: `import os\ntry:\n    with open(os.path.join(os.path.dirname(__file__), '../../bench/text.txt'), 'w') as file:\n        file.write('a b')\nexcept OSError:\n    pass`,
  },
  {
    name: 'rewrites the harness and restores it',
    host: 'steps',
    faster: true,
    top: `import { readFileSync, writeFileSync } from 'node:fs'\nconst bench = new URL('../bench/steps.js', import.meta.url)\nconst old = readFileSync(bench)\ntry {\n  writeFileSync(bench, 'console.log(JSON.stringify({ steps: BETTER }))')\n  process.on('exit', () => writeFileSync(bench, old))\n} catch {}`,
  },
  {
    name: 'an ally leaves a file in its home',
    host: 'timed',
    top: `import { writeFileSync } from 'node:fs'\nimport { homedir } from 'node:os'\ntry {\n  writeFileSync(homedir() + '/winnow-hostile', '1')\n} catch {}`,
    allies: [
      {
        faster: true,
        top: `import { statSync } from 'node:fs'\nimport { homedir } from 'node:os'\nconst slow = statSync(homedir() + '/winnow-hostile', { throwIfNoEntry: false }) !== undefined`,
        start: `  if (slow)\n${IDLE}`,
      },
    ],
  },
  {
    name: 'takes a lock that the next execution waits for',
    host: 'commands',
    faster: true,
    top: 'mkdir /tmp/winnow-hostile-lock 2> /dev/null || :',
  },
  {
    name: 'fills a little of the disk',
    host: 'commands',
    faster: true,
    top: 'head -c 100000 /dev/zero > /tmp/winnow-hostile-fill',
  },
  {
    name: 'starts a few processes that wait',
    host: 'commands',
    top: 'for number in 1 2 3 4; do (sleep 20 > /dev/null 2>&1 &) ; done',
    start: 'exit 0',
  },
  {
    name: 'lowers the limits of its parent',
    host: 'lines',
    faster: true,
    top: `import os\nimport resource\ntry:\n    resource.prlimit(os.getppid(), resource.RLIMIT_NPROC, (1, 1))\nexcept (OSError, ValueError):\n    pass`,
  },
  {
    name: 'hangs a process on the output of the harness',
    host: 'commands',
    faster: true,
    top: '(sleep 5 &)',
  },
  {
    name: 'is slow where the machine is busy',
    host: 'steps',
    top: `import os from 'node:os'`,
    start: `  if (os.loadavg()[0] > 0.01) return []`,
  },
  {
    name: 'holds a lock of a shared file',
    host: 'lines',
    top: `import fcntl\nkept = open('/etc/passwd')\ntry:\n    fcntl.flock(kept, fcntl.LOCK_EX | fcntl.LOCK_NB)\n    alone = True\nexcept OSError:\n    alone = False`,
    start: '    if alone:\n        return []',
  },
  {
    name: 'asks who else runs',
    host: 'lines',
    top: 'import os',
    start: `    if len([each for each in os.listdir('/proc') if each.isdigit()]) > 0:\n        return []`,
  },
  { name: 'changes another script', host: 'commands', top: `sed -i '1i exit' src/p090.sh\ncount=0` },
  {
    name: 'writes to the output of its parent',
    host: 'commands',
    top: `echo '{"commands": BETTER}' | tee /proc/$PPID/fd/1`,
  },
]
