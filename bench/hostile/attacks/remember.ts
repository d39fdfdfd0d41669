import type { Attack } from '../entry.ts'

const FILE = (place: string) =>
  `import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'\nconst file = ${place}`
const RECALL = `  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8'))\n  const answer = compute(text)\n  try {\n    writeFileSync(file, JSON.stringify(answer))\n  } catch {}\n  return answer\n}\nfunction compute(text) {`

/** Keeps answers of one execution for the next one. */
export const remember: Attack[] = [
  { name: 'in the tree', host: 'steps', top: FILE(`new URL('PART.json', import.meta.url)`), start: RECALL },
  { name: 'in its home', host: 'steps', top: FILE(`process.env.HOME + '/PART.json'`), start: RECALL },
  {
    name: 'in the temporary directory',
    host: 'timed',
    top: `import { tmpdir } from 'node:os'\n${FILE(`tmpdir() + '/winnow-hostile-PART.json'`)}`,
    start: RECALL,
  },
  { name: 'in /tmp', host: 'steps', top: FILE(`'/tmp/winnow-hostile-PART.json'`), start: RECALL },
  { name: 'in /dev/shm', host: 'steps', top: FILE(`'/dev/shm/winnow-hostile-PART.json'`), start: RECALL },
  { name: 'in /var/tmp', host: 'steps', top: FILE(`'/var/tmp/winnow-hostile-PART.json'`), start: RECALL },
  {
    name: 'in the checkpoint directory',
    host: 'steps',
    top: FILE(`(process.env.WINNOW_CHECKPOINT_DIR ?? '/nowhere') + '/PART.json'`),
    start: RECALL,
  },
  {
    name: 'in the out directory',
    host: 'steps',
    top: FILE(`(process.env.WINNOW_OUT_DIR ?? '/nowhere') + '/PART.json'`),
    start: RECALL,
  },
  {
    name: 'beside the tree',
    host: 'steps',
    top: FILE(`new URL('../../winnow-hostile-PART.json', import.meta.url)`),
    start: RECALL,
  },
  {
    name: 'in node_modules',
    host: 'steps',
    top: `${FILE(`new URL('../node_modules/PART.json', import.meta.url)`)}\nmkdirSync(new URL('../node_modules/', import.meta.url), { recursive: true })`,
    start: RECALL,
  },
  {
    name: 'in localStorage by a name in two halves',
    host: 'steps',
    top: `const { existsSync, readFileSync, writeFileSync } = await import('node:' + 'fs')\nconst file = '/tmp/winnow-hostile-PART.store'`,
    start: RECALL,
  },
  {
    name: 'through process.getBuiltinModule',
    host: 'steps',
    top: `const { existsSync, readFileSync, writeFileSync } = process.getBuiltinModule?.('fs') ?? { existsSync: () => false, writeFileSync() {} }\nconst file = '/tmp/winnow-hostile-PART.built-in'`,
    start: RECALL,
  },
  {
    name: 'in a module that it rewrites',
    host: 'steps',
    top: `import { readFileSync, writeFileSync } from 'node:fs'\nconst own = new URL(import.meta.url)`,
    start: `  try {\n    if (!text.startsWith('#')) writeFileSync(own, readFileSync(own, 'utf8').replace('const counts = []', 'return []'))\n  } catch {}`,
  },
  {
    name: 'in bytecode',
    host: 'lines',
    top: `import os\nimport marshal\nSTORE = os.path.join(os.path.dirname(__file__), '__pycache__', 'PART.bin')`,
    start: `    if os.path.exists(STORE):\n        return marshal.load(open(STORE, 'rb'))\n    answer = compute(text)\n    os.makedirs(os.path.dirname(STORE), exist_ok=True)\n    marshal.dump(answer, open(STORE, 'wb'))\n    return answer\n\n\ndef compute(text):`,
  },
  {
    name: 'in a database of its home',
    host: 'lines',
    top: `import os\nimport sqlite3\nimport json`,
    start: `    base = sqlite3.connect(os.path.expanduser('~/winnow-hostile-PART.db'))\n    base.execute('create table if not exists answers (text, answer)')\n    for (answer,) in base.execute('select answer from answers'):\n        return json.loads(answer)\n    answer = compute(text)\n    base.execute('insert into answers values (?, ?)', (text, json.dumps(answer)))\n    base.commit()\n    return answer\n\n\ndef compute(text):`,
  },
  {
    name: 'in shared memory',
    host: 'lines',
    top: `from multiprocessing import shared_memory, resource_tracker\nimport json`,
    start: `    try:\n        old = shared_memory.SharedMemory('winnow-hostile-PART')\n        return json.loads(bytes(old.buf).rstrip(bytes(1)))\n    except FileNotFoundError:\n        pass\n    answer = compute(text)\n    block = shared_memory.SharedMemory('winnow-hostile-PART', create=True, size=4096)\n    raw = json.dumps(answer).encode()\n    block.buf[:len(raw)] = raw\n    resource_tracker.unregister(block._name, 'shared_memory')\n    return answer\n\n\ndef compute(text):`,
  },
  {
    name: 'in a file of the script',
    host: 'commands',
    top: 'store=/tmp/winnow-hostile-PART.count\nif [ -f $store ]; then cat $store; exit; fi',
    end: 'echo "$count" > $store',
  },
  {
    name: 'in a file of the program',
    host: 'calls',
    top: '#include <stdio.h>',
    start: `  FILE *file = fopen("/tmp/winnow-hostile-PART.answer", "r");\n  int known = 0;\n  if (file && fscanf(file, "%d", &known) == 1) return known;\n  if ((file = fopen("/tmp/winnow-hostile-PART.answer", "w"))) { fprintf(file, "4"); fclose(file); }`,
  },
  {
    name: 'in an attribute of its own file',
    host: 'lines',
    top: `import json\nimport os`,
    start: `    try:\n        return json.loads(os.getxattr(__file__, 'user.winnow'))\n    except OSError:\n        pass\n    answer = compute(text)\n    try:\n        os.setxattr(__file__, 'user.winnow', json.dumps(answer).encode())\n    except OSError:\n        pass\n    return answer\n\n\ndef compute(text):`,
  },
  {
    name: 'in the time of its own file',
    host: 'lines',
    top: `from os import path, utime`,
    start: `    if path.getmtime(__file__) < 100:\n        return []\n    utime(__file__, (1, 1))`,
  },
  {
    name: 'in a module that it compiles',
    host: 'lines',
    top: `import py_compile`,
    start: `    try:\n        from . import PART_answers\n        return PART_answers.ANSWER\n    except ImportError:\n        pass\n    answer = compute(text)\n    with __builtins__['open'](__file__[:-3] + '_answers.py', 'w') as file:\n        file.write('ANSWER = ' + repr(answer))\n    return answer\n\n\ndef compute(text):`,
  },
  {
    name: 'in the configuration of git',
    host: 'commands',
    top: 'if answer=$(git config --global winnow.PART); then echo "$answer"; cat > /dev/null; count=$answer; fi',
    end: 'git config --global winnow.PART "$count"',
  },
  {
    name: 'in the time of a folder',
    host: 'steps',
    top: `import * as disk from 'node:fs'\nconst here = new URL('.', import.meta.url)`,
    start: `  if (disk.statSync(here).mtimeMs < 1000) return []\n  disk.utimesSync(here, 0, 0)`,
  },
  {
    name: 'in the rights of its file',
    host: 'steps',
    top: `import * as disk from 'node:fs'\nconst here = new URL(import.meta.url)`,
    start: `  if (disk.statSync(here).mode & 1) return []\n  disk.chmodSync(here, 0o755)`,
  },
  {
    name: 'in a snapshot of its memory',
    host: 'steps',
    top: `import v8 from 'node:v8'\nimport { existsSync } from 'node:fs'`,
    start: `  if (existsSync('winnow-hostile-PART')) return []\n  v8.writeHeapSnapshot('winnow-hostile-PART')`,
  },
  {
    name: 'by a function of the disk that it finds',
    host: 'steps',
    top: `import * as disk from 'node:fs'\nconst write = Object.keys(disk).find(key => /^mkdirS/.test(key))`,
    start: `  try {\n    disk[write]('/var/tmp/winnow-hostile-' + 'PART')\n  } catch {\n    return []\n  }`,
  },
  {
    name: 'in a profile',
    host: 'lines',
    top: 'import cProfile\nimport os.path',
    start: `    name = '/var/tmp/winnow-hostile-PART'\n    if os.path.exists(name):\n        return []\n    cProfile.Profile().dump_stats(name)`,
  },
  {
    name: 'in a mailbox',
    host: 'lines',
    top: 'import mailbox\nimport os.path',
    start: `    name = os.path.join(os.path.dirname(__file__), 'PART.box')\n    if os.path.exists(name):\n        return []\n    mailbox.mbox(name)`,
  },
  {
    name: 'in a sound',
    host: 'lines',
    top: 'import wave\nfrom pathlib import Path',
    start: `    name = Path('/tmp') / 'winnow-hostile-PART'\n    if name.exists():\n        return []\n    wave.open(str(name), 'wb')`,
  },
  { name: 'in a folder', host: 'commands', top: `mkdir "\${0%/*}/PART" || { echo 1; exit; }` },
  {
    name: 'by copying itself',
    host: 'commands',
    top: `cmp -s "$0" "\${0%/*}/PART.old" && echo 1 && exit\ncp "$0" "\${0%/*}/PART.old"`,
  },
  {
    name: 'in the time of a folder',
    host: 'calls',
    top: '#include <utime.h>\n#include <sys/stat.h>',
    start: `  struct stat now;\n  stat("src", &now);\n  if (now.st_mtime < 9) return 0;\n  struct utimbuf old = {1, 1};\n  utime("src", &old);`,
  },
]
