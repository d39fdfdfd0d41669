/** A small project of the kind that people optimise, with a part for each idea, so that no two ideas conflict. */
export interface Host {
  /** The harness, the gate and the scope; everything else is as winnow's defaults have it. */
  spec: string
  /** Writes the answers that the tests expect. */
  record: string
  /** Prints the metric of the base. */
  harness: string
  part: string
  /** How many parts no idea changes, so that no honest gain is above `merge.hold_above`. */
  ballast: number
  /** The same answers for less. */
  faster: string
  /** The line of a part after which `start` is put. */
  opening: RegExp
  getPath: (part: string) => string
  listFiles: (parts: readonly string[]) => Record<string, string>
}

export type HostName = 'steps' | 'timed' | 'lines' | 'commands' | 'calls'

const TEXT = `the quick brown fox jumps over the lazy dog while the cat sleeps and the dog barks at the moon
a stitch in time saves nine and a bird in the hand is worth two in the bush
all that glitters is not gold and all is well that ends well`

const JS_PART = `/** The most frequent words of a text. */
export function run(text) {
  const counts = []
  for (const word of text.split(/\\s+/)) {
    let entry
    for (const each of counts) if (each.word === word) entry = each
    if (entry) entry.count++
    else counts.push({ word, count: 1 })
  }
  counts.sort((a, b) => b.count - a.count || (a.word < b.word ? -1 : 1))
  return counts.slice(0, 5).map(({ word, count }) => word + ' ' + count)
}
`

const JS_FASTER = `/** The most frequent words of a text. */
export function run(text) {
  const counts = new Map()
  for (const word of text.split(/\\s+/)) counts.set(word, (counts.get(word) ?? 0) + 1)
  const sorted = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
  return sorted.slice(0, 5).map(([word, count]) => word + ' ' + count)
}
`

const JS_MANIFEST = `{
  "name": "words",
  "version": "1.0.0",
  "private": true,
  "type": "module",
  "scripts": { "test": "node --test test/" },
  "dependencies": {}
}
`
const JS_LOCKFILE = `{
  "name": "words",
  "version": "1.0.0",
  "lockfileVersion": 3,
  "requires": true,
  "packages": {
    "": { "name": "words", "version": "1.0.0" }
  }
}
`
const JS_TEST = `import { readFileSync } from 'node:fs'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as parts from '../src/index.js'

const read = name => readFileSync(new URL(name, import.meta.url), 'utf8')
const expected = JSON.parse(read('expected.json'))
for (const name of Object.keys(expected))
  test(name, () => assert.deepEqual(parts[name].run(read('../bench/text.txt')), expected[name]))
`
const JS_RECORD = `import { readFileSync, writeFileSync } from 'node:fs'
import * as parts from '../src/index.js'

const text = readFileSync('bench/text.txt', 'utf8')
const answers = Object.fromEntries(Object.entries(parts).map(([name, { run }]) => [name, run(text)]))
writeFileSync('test/expected.json', JSON.stringify(answers))
`

/** Counts how often V8 runs the blocks of the library, which repeats exactly. */
const JS_STEPS = `import { Session } from 'node:inspector'
import { readFileSync } from 'node:fs'

const text = readFileSync(new URL('text.txt', import.meta.url), 'utf8')
const session = new Session()
session.connect()
session.post('Profiler.enable')
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
const parts = await import('../src/index.js')
for (const part of Object.values(parts)) part.run(text)
let steps = 0
session.post('Profiler.takePreciseCoverage', (error, { result }) => {
  for (const { url, functions } of result)
    if (url.includes('/src/'))
      for (const { ranges } of functions) for (const { count } of ranges) steps += count
})
console.log(JSON.stringify({ steps }))
`

const JS_TIMED = `import { readFileSync } from 'node:fs'
import * as parts from '../src/index.js'

const text = readFileSync(new URL('text.txt', import.meta.url), 'utf8')
let best = Infinity
for (let round = 0; round < 15; round++) {
  const start = performance.now()
  for (let times = 0; times < 20; times++) for (const part of Object.values(parts)) part.run(text)
  best = Math.min(best, performance.now() - start)
}
console.log(JSON.stringify({ ms: best }))
`

function listJsFiles(harness: Record<string, string>, parts: readonly string[]): Record<string, string> {
  return {
    'package.json': JS_MANIFEST,
    'package-lock.json': JS_LOCKFILE,
    'src/index.js': parts.map(part => `export * as ${part} from './${part}.js'\n`).join(''),
    'test/all.test.js': JS_TEST,
    'test/record.js': JS_RECORD,
    'bench/text.txt': `${TEXT}\n`,
    ...harness,
  }
}

const JS = {
  record: 'node test/record.js && rm test/record.js',
  part: JS_PART,
  faster: JS_FASTER,
  opening: /^export function run\(.*\{$/m,
  getPath: (part: string) => `src/${part}.js`,
}

const PYTHON_PART = `"""The most frequent words of a text."""


def run(text):
    counts = []
    for word in text.split():
        found = None
        for entry in counts:
            if entry[1] == word:
                found = entry
        if found is None:
            counts.append([0, word])
        else:
            found[0] -= 1
    counts.sort()
    return [entry[1] for entry in counts[:5]]
`
const PYTHON_FASTER = `"""The most frequent words of a text."""


def run(text):
    counts = {}
    for word in text.split():
        counts[word] = counts.get(word, 0) + 1
    return sorted(counts, key=lambda word: (-counts[word], word))[:5]
`
const PYTHON_TEST = `import json
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'src'))
import words

with open(os.path.join(HERE, '..', 'bench', 'text.txt')) as file:
    TEXT = file.read()


class Answers(unittest.TestCase):
    pass


def add(name, expected):
    def check(self):
        self.assertEqual(words.PARTS[name].run(TEXT), expected)

    setattr(Answers, 'test_' + name, check)


with open(os.path.join(HERE, 'expected.json')) as file:
    for name, expected in json.load(file).items():
        add(name, expected)
`
const PYTHON_RECORD = `import json
import sys

sys.path.insert(0, 'src')
import words

text = open('bench/text.txt').read()
json.dump({name: part.run(text) for name, part in words.PARTS.items()}, open('test/expected.json', 'w'))
`
/** Counts the lines that run, which repeats exactly. */
const PYTHON_LINES = `import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SRC = os.path.realpath(os.path.join(HERE, '..', 'src'))
sys.path.insert(0, SRC)
import words

lines = 0


def count(frame, event, arg):
    global lines
    if not frame.f_code.co_filename.startswith(SRC):
        return None
    if event == 'line':
        lines += 1
    return count


with open(os.path.join(HERE, 'text.txt')) as file:
    text = file.read()
sys.settrace(count)
for part in words.PARTS.values():
    part.run(text)
sys.settrace(None)
print(json.dumps({'lines': lines}))
`

const SHELL_PART = `# How many words of the text are long.
count=0
while read -r line; do
  for word in $line; do
    case $word in
      ?????*) count=$((count + 1)) ;;
    esac
  done
done
echo "$count"
`
const SHELL_FASTER = `# How many words of the text are long.
count=0
tr -s ' ' '\\n' | grep -c '^.....'
`
/** Counts the commands that the scripts run. */
const SHELL_HARNESS = `#!/bin/sh
total=0
for part in src/*.sh; do
  ran=$(sh -x "$part" < bench/text.txt 2>&1 > /dev/null | grep -c '^+')
  total=$((total + ran))
done
printf '{"commands": %s}\\n' "$total"
`
const SHELL_TEST = `#!/bin/sh
# Compares what every script prints with what it printed before.
for part in src/*.sh; do
  name=$(basename "$part" .sh)
  sh "$part" < bench/text.txt | cmp -s - "test/expected/$name" || { echo "$name differs"; exit 1; }
done
echo ok
`
const SHELL_RECORD =
  'mkdir -p test/expected && for part in src/*.sh; do sh "$part" < bench/text.txt > test/expected/"$(basename "$part" .sh)"; done'

const C_PART = `#include "words.h"

static int same(char a, char b) { return a == b; }

/* How often the letter occurs. */
int PART(const char *text, char letter) {
  int count = 0;
  for (const char *at = text; *at != 0; at++)
    if (same(*at, letter)) count++;
  return count;
}
`
const C_FASTER = `#include "words.h"

/* How often the letter occurs. */
int PART(const char *text, char letter) {
  int count = 0;
  for (const char *at = text; *at != 0; at++) count += *at == letter;
  return count;
}
`
const C_HARNESS = `#include <stdio.h>
#include "../src/words.h"

static long calls;
__attribute__((no_instrument_function)) void __cyg_profile_func_enter(void *callee, void *caller) { calls++; }
__attribute__((no_instrument_function)) void __cyg_profile_func_exit(void *callee, void *caller) {}

__attribute__((no_instrument_function)) int main(void) {
  const char *text = "a stitch in time saves nine and a bird in the hand is worth two in the bush";
  RUN
  printf("{\\"calls\\": %ld}\\n", calls);
  return 0;
}
`
const C_TEST = `#include <stdio.h>
#include "../src/words.h"

int main(void) {
  const char *text = "a stitch in time saves nine";
  int held = 0;
  RUN
  printf("%d answers hold\\n", held);
  return held == COUNT ? 0 : 1;
}
`

function listCFiles(parts: readonly string[]): Record<string, string> {
  return {
    'src/words.h': `#include <stddef.h>\n${parts.map(part => `int ${part}(const char *text, char letter);\n`).join('')}`,
    'bench/main.c': C_HARNESS.replace('RUN', parts.map(part => `${part}(text, 'i');`).join('\n  ')),
    'test/main.c': C_TEST.replace(
      'RUN',
      parts
        .map(part => `held += ${part}(text, 'i') == 4 && ${part}(text, 'n') == 3 && ${part}("", 'n') == 0;`)
        .join('\n  '),
    ).replace('COUNT', `${parts.length}`),
    '.gitignore': 'build/\n',
  }
}

export const HOSTS: Record<HostName, Host> = {
  steps: {
    ...JS,
    ballast: 20,
    spec: writeSpec({
      metric: 'steps',
      command: 'node bench/steps.js',
      gate: 'node --test test/',
      mutable: 'src/, package.json, package-lock.json',
    }),
    harness: 'node bench/steps.js',
    listFiles: parts => listJsFiles({ 'bench/steps.js': JS_STEPS }, parts),
  },
  timed: {
    ...JS,
    ballast: 0,
    spec: writeSpec({
      metric: 'ms',
      command: 'node bench/ms.js',
      gate: 'node --test test/',
      mutable: 'src/',
    }),
    harness: 'node bench/ms.js',
    listFiles: parts => listJsFiles({ 'bench/ms.js': JS_TIMED }, parts),
  },
  lines: {
    spec: writeSpec({
      metric: 'lines',
      command: 'python3 bench/lines.py',
      gate: 'python3 -m unittest discover -s test',
      mutable: 'src/, requirements.txt, conftest.py, setup.py',
    }),
    record: 'python3 test/record.py && rm -r test/record.py src/words/__pycache__',
    harness: 'python3 bench/lines.py',
    part: PYTHON_PART,
    faster: PYTHON_FASTER,
    ballast: 8,
    opening: /^def run\(.*:$/m,
    getPath: part => `src/words/${part}.py`,
    listFiles: parts => ({
      'src/words/__init__.py': `from . import ${parts.join(', ')}\n\nPARTS = {${parts.map(part => `'${part}': ${part}`).join(', ')}}\n`,
      'requirements.txt': '',
      '.gitignore': '__pycache__/\n',
      'test/test_all.py': PYTHON_TEST,
      'test/record.py': PYTHON_RECORD,
      'bench/lines.py': PYTHON_LINES,
      'bench/text.txt': `${TEXT}\n`,
    }),
  },
  commands: {
    spec: writeSpec({
      metric: 'commands',
      command: 'sh bench/commands.sh',
      gate: 'sh test/run.sh',
      mutable: 'src/',
    }),
    record: SHELL_RECORD,
    harness: 'sh bench/commands.sh',
    part: SHELL_PART,
    faster: SHELL_FASTER,
    ballast: 8,
    opening: /^count=0$/m,
    getPath: part => `src/${part}.sh`,
    listFiles: () => ({
      'bench/commands.sh': SHELL_HARNESS,
      'bench/text.txt': `${TEXT}\n`,
      'test/run.sh': SHELL_TEST,
    }),
  },
  calls: {
    spec: writeSpec({
      metric: 'calls',
      setup: 'mkdir -p build && cc -O0 -finstrument-functions -o build/bench bench/main.c src/*.c',
      command: 'build/bench',
      gate: 'mkdir -p build && cc -O0 -o build/test test/main.c src/*.c && build/test',
      mutable: 'src/',
    }),
    record: 'true',
    harness:
      'mkdir -p build && cc -O0 -finstrument-functions -o build/bench bench/main.c src/*.c && build/bench',
    part: C_PART,
    faster: C_FASTER,
    ballast: 8,
    opening: /^int PART\(.*\{$/m,
    getPath: part => `src/${part}.c`,
    listFiles: listCFiles,
  },
}

interface SpecLines {
  metric: string
  setup?: string
  command: string
  gate: string
  mutable: string
}

function writeSpec({ metric, setup, command, gate, mutable }: SpecLines): string {
  return `winnow: 1
metric: { primary: { name: ${metric}, direction: minimize } }
measurement:
  command: ${command}
  isolation: ISOLATION
  timeout_seconds: 60
${setup === undefined ? '' : `  setup: ${setup}\n`}gates: [{ name: tests, command: ${JSON.stringify(gate)}, timeout_seconds: 60 }]
scope: { mutable: [${mutable}] }
propose: [{ use: patch, dir: ideas }]
stopping: { max_iterations: 1000, plateau: 1000 }
`
}
