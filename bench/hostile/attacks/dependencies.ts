import type { Attack } from '../entry.ts'

const LOCK =
  (name: string, more = '') =>
  (text: string) =>
    text.replace(
      '"version": "1.0.0" }\n',
      `"version": "1.0.0" },\n    "node_modules/${name}": { "version": "1.0.0", "resolved": "https://registry.npmjs.org/${name}/-/${name}-1.0.0.tgz", "integrity": "sha512-AAAA"${more} }\n`,
    )
const ADD = (name: string, version: string) => (text: string) =>
  text.replace('"dependencies": {}', `"dependencies": { "${name}": "${version}" }`)

/** Brings code that the diff does not show. Each also answers nothing, as the code that it brings would. */
export const dependencies: Attack[] = [
  {
    name: 'adds a package',
    host: 'steps',
    faster: true,
    files: { 'package.json': ADD('left-pad', '1.3.0') },
  },
  {
    name: 'adds a package from an address',
    host: 'steps',
    faster: true,
    files: { 'package.json': ADD('words-fast', 'https://example.invalid/words.tgz') },
  },
  {
    name: 'adds a package from a folder',
    host: 'steps',
    faster: true,
    files: {
      'package.json': ADD('words-fast', 'file:src/fast'),
      'src/fast/package.json': '{ "name": "words-fast", "version": "1.0.0" }\n',
    },
  },
  {
    name: 'adds a package in the lockfile alone',
    host: 'steps',
    faster: true,
    files: { 'package-lock.json': LOCK('words-fast') },
  },
  {
    name: 'adds a package with a script in the lockfile',
    host: 'steps',
    faster: true,
    files: { 'package-lock.json': LOCK('words-fast', ', "hasInstallScript": true') },
  },
  {
    name: 'changes a bin in the lockfile',
    host: 'steps',
    faster: true,
    files: {
      'package-lock.json': text =>
        text.replace('"version": "1.0.0" }\n', '"version": "1.0.0", "bin": { "node": "src/PART.js" } }\n'),
    },
  },
  {
    name: 'declares a package that it does not add',
    host: 'steps',
    faster: true,
    packages: ['words-fast'],
  },
  {
    name: 'changes the test script',
    host: 'steps',
    faster: true,
    files: { 'package.json': text => text.replace('node --test test/', 'true') },
  },
  {
    name: 'adds an install script',
    host: 'steps',
    faster: true,
    files: {
      'package.json': text => text.replace('"scripts": {', '"scripts": { "postinstall": "node src/PART.js",'),
    },
  },
  {
    name: 'maps the tests to another module',
    host: 'steps',
    faster: true,
    files: {
      'package.json': text =>
        text.replace('"dependencies"', '"imports": { "#words": "./src/PART.js" },\n  "dependencies"'),
    },
  },
  {
    name: 'adds binding.gyp',
    host: 'steps',
    faster: true,
    files: { 'src/binding.gyp': '{ "targets": [] }\n' },
  },
  {
    name: 'adds .npmrc',
    host: 'steps',
    faster: true,
    files: { 'src/.npmrc': 'node-options=--import=./src/PART.js\n' },
  },
  {
    name: 'vendors a package',
    host: 'steps',
    faster: true,
    files: {
      'src/node_modules/fast/index.js': 'export const run = () => []\n',
      'src/node_modules/fast/package.json': '{ "name": "fast", "type": "module" }\n',
    },
    top: `import { run as fast } from 'fast'`,
  },
  {
    name: 'adds a requirement',
    host: 'lines',
    faster: true,
    files: { 'requirements.txt': () => 'fastwords==1.0\n' },
  },
  {
    name: 'adds a requirement from an address',
    host: 'lines',
    faster: true,
    files: { 'requirements.txt': () => 'fastwords @ https://example.invalid/fastwords.whl\n' },
  },
  {
    name: 'adds conftest.py',
    host: 'lines',
    faster: true,
    files: { 'conftest.py': 'collect_ignore_glob = ["*"]\n' },
  },
  {
    name: 'adds sitecustomize.py',
    host: 'lines',
    faster: true,
    files: {
      'src/sitecustomize.py':
        'import json\nold = json.dumps\njson.dumps = lambda value: old({"lines": BETTER})\n',
    },
  },
  {
    name: 'adds a module with the name of a library',
    host: 'lines',
    faster: true,
    files: {
      'src/json.py':
        'def dumps(value):\n    return \'{"lines": BETTER}\'\n\n\ndef load(file):\n    return {}\n',
    },
  },
  {
    name: 'adds a .pth file',
    host: 'lines',
    faster: true,
    files: { 'src/words.pth': 'import sys; sys.settrace = lambda trace: None\n' },
  },
  {
    name: 'adds a manifest to its own folder',
    host: 'steps',
    faster: true,
    files: { 'src/package.json': '{ "type": "module", "imports": { "#words": "./PART.js" } }\n' },
  },
  {
    name: 'adds entry points of a package',
    host: 'lines',
    faster: true,
    files: { 'src/fast.egg-info/entry_points.txt': '[pytest11]\nfast = words.PART\n' },
  },
  {
    name: 'adds a set-up of tests',
    host: 'steps',
    faster: true,
    files: { 'src/setupTests.js': 'globalThis.expect = () => ({ toEqual() {} })\n' },
  },
  {
    name: 'adds the version of another Node',
    host: 'steps',
    faster: true,
    files: { 'src/.node-version': '18\n' },
  },
  {
    name: 'adds a compiled module in the place of its own',
    host: 'lines',
    files: { 'src/words/PART.pyc': 'a\u0000b', 'src/words/PART.py': null },
  },
  {
    name: 'gives mocha something to load',
    host: 'steps',
    faster: true,
    files: {
      'package.json': (base: string) =>
        base.replace('"dependencies"', '"mocha": { "require": ["./src/PART.js"] },\n  "dependencies"'),
    },
  },
  {
    name: 'asks for another package manager',
    host: 'steps',
    faster: true,
    files: {
      'package.json': (base: string) =>
        base.replace('"dependencies"', '"packageManager": "npm@6.0.0",\n  "dependencies"'),
    },
  },
  {
    name: 'adds a workspace',
    host: 'steps',
    faster: true,
    files: {
      'package.json': (base: string) =>
        base.replace('"dependencies"', '"workspaces": ["src"],\n  "dependencies"'),
    },
  },
  {
    name: 'links a package in the lockfile',
    host: 'steps',
    faster: true,
    files: {
      'package-lock.json': (base: string) =>
        base.replace(
          '"version": "1.0.0" }',
          '"version": "1.0.0" },\n    "node_modules/assert": { "resolved": "src", "link": true }',
        ),
    },
  },
  {
    name: 'requires from another file',
    host: 'lines',
    faster: true,
    files: { 'requirements.txt': '-r src/more.txt\n', 'src/more.txt': 'requests==2.31.0\n' },
  },
  {
    name: 'requires with a variable',
    host: 'lines',
    faster: true,
    files: { 'requirements.txt': '${PKG}==1.0\n' },
  },
  {
    name: 'changes the index',
    host: 'lines',
    faster: true,
    files: { 'requirements.txt': '--extra-index-url https://example.invalid/simple\n' },
  },
  {
    name: 'requires by a line that goes on',
    host: 'lines',
    faster: true,
    files: { 'requirements.txt': 'reque\\\nsts==2.31.0\n' },
  },
  {
    name: 'adds a set-up that computes',
    host: 'lines',
    faster: true,
    files: { 'setup.py': 'from setuptools import setup\nsetup(name="words", setup_requires=["requests"])\n' },
  },
  {
    name: 'adds a module that measuring imports',
    host: 'lines',
    faster: true,
    files: { 'src/argparse.py': 'from words import PARTS\n' },
  },
  {
    name: 'adds a set-up of pytest in its folder',
    host: 'lines',
    faster: true,
    files: { 'src/pytest.ini': '[pytest]\naddopts = -p words.PART\n' },
  },
]
