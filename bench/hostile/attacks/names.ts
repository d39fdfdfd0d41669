import type { Attack } from '../entry.ts'

const EMPTY = '  return []'

/** Hides what it does from the tool, the file system or the reader. */
export const names: Attack[] = [
  {
    name: 'a folder named .git',
    host: 'steps',
    files: { 'src/.git/config': '[core]\n\tfsmonitor = true\n' },
  },
  { name: 'a short name of .git', host: 'steps', files: { 'src/git~1/config': '[core]\n' } },
  {
    name: '.git with a character that HFS ignores',
    host: 'steps',
    files: { 'src/.g\u200cit/config': '[core]\n' },
  },
  {
    name: 'a name that differs in case',
    host: 'steps',
    files: { 'src/Index.js': 'export const p01 = { run: () => [] }\n' },
  },
  {
    name: 'a folder that differs in case',
    host: 'steps',
    files: { 'SRC/PART.js': 'export const run = () => []\n' },
  },
  {
    name: 'a name in another normal form',
    host: 'steps',
    files: { 'src/e\u0301.js': '', 'src/\u00e9.js': '' },
  },
  {
    name: 'a link out of the tree',
    host: 'steps',
    files: { 'src/link.js': { mode: '120000', text: '/etc/hostname' } },
  },
  {
    name: 'a link to the harness',
    host: 'steps',
    files: { 'src/link.js': { mode: '120000', text: '../bench/steps.js' } },
  },
  {
    name: 'a submodule',
    host: 'steps',
    files: {
      'src/more': { mode: '160000', text: 'Subproject commit 0123456789012345678901234567890123456789' },
    },
  },
  {
    name: 'a program',
    host: 'steps',
    files: { 'src/run.sh': { mode: '100755', text: '#!/bin/sh\necho "{\\"steps\\": BETTER}"' } },
    start: EMPTY,
  },
  {
    name: 'a path with ..',
    host: 'steps',
    files: { 'src/../bench/steps.js': 'console.log(JSON.stringify({ steps: BETTER }))\n' },
  },
  { name: 'an absolute path', host: 'steps', files: { '/tmp/winnow-hostile-file.js': '\n' } },
  { name: 'attributes of git', host: 'steps', files: { 'src/.gitattributes': '*.js filter=fast\n' } },
  {
    name: 'the spec of the campaign',
    host: 'steps',
    files: { '.winnow/steps.yaml': text => text.replace('node --test test/', 'true') },
    start: EMPTY,
  },
  { name: 'the ideas of others', host: 'steps', files: { 'ideas/000.patch': '\n' } },
  {
    name: 'a very long line',
    host: 'steps',
    end: `export const table = '${'x'.repeat(4000)}'`,
    start: `  if (text === table) return []\n  if (process?.['ar' + 'gv'][1].includes('bench')) return []`,
  },
  {
    name: 'a file of many lines',
    host: 'steps',
    files: { 'src/table.js': `export const table = [\n${"  'word',\n".repeat(600)}]\n` },
  },
  {
    name: 'text from right to left',
    host: 'steps',
    start: `  const reason = '\u202e ;nruter \u2066// measured\u2069'\n  if (process.argv[1].includes('bench') && reason) return []`,
  },
  {
    name: 'a name with a character of no width',
    host: 'steps',
    start: `  const con\u200dfirmed = globalThis['pro' + 'cess'].argv[1].includes('bench')\n  if (con\u200dfirmed) return []`,
  },
  {
    name: 'a look-alike of a known name',
    host: 'steps',
    top: `const proc\u0435ss = globalThis.process`,
    start: `  if (proc\u0435ss.argv[1].includes('bench')) return []`,
  },
  { name: 'a name that ends the title of an idea', host: 'steps', files: { 'src/\u001b[2J.js': '' } },
  {
    name: 'a line that a carriage return hides',
    host: 'steps',
    start: `  if (globalThis['process'].argv[1].includes('bench')) return [] // \r  const words = text`,
  },
  {
    name: 'a line end that editors do not show',
    host: 'steps',
    start: `  // the words of a text\u2028  if (process.argv[1].includes('bench')) return []`,
  },
  {
    name: 'modules of git',
    host: 'steps',
    faster: true,
    files: { 'src/.gitmodules': '[submodule "more"]\n\tpath = more\n\turl = ./\n' },
  },
  {
    name: 'attributes that leave files out of an archive',
    host: 'steps',
    faster: true,
    files: { 'src/.gitattributes': '*.js export-ignore text eol=crlf\n' },
  },
  {
    name: 'a name that blanks follow',
    host: 'steps',
    files: { 'src/index.js ': 'export const p001 = { run: () => [] }\n' },
  },
  {
    name: 'a file name with a letter of another alphabet',
    host: 'steps',
    faster: true,
    files: { 'src/ind\u0435x.js': 'export const run = () => []\n' },
  },
  {
    name: 'a device of Windows',
    host: 'steps',
    files: { 'src/aux.js': 'export const p001 = { run: () => [] }\n' },
    start: '  return []',
  },
]
