import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { ENV } from '../support/campaign-client.ts'
import { scratch } from '../git/scratch.ts'
import type { Recording } from './normalise.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const GOLDEN = 'fixtures/golden'
const MAX_LINES = 200
const CONTEXT = 80

/** Compares a recording with the stored one, or stores it if `WINNOW_GOLDEN=write`. */
export function compareGolden(scenario: string, recording: Recording): void {
  const folder = join(ROOT, GOLDEN, scenario)
  if (process.env['WINNOW_GOLDEN'] === 'write') {
    rmSync(folder, { recursive: true, force: true })
    writeRecording(folder, recording)
    return
  }
  const stored = readRecording(folder)
  const paths = [...new Set([...Object.keys(stored), ...Object.keys(recording)])].toSorted()
  const changed = paths.filter(path => stored[path] !== recording[path])
  if (changed.length === 0) return
  const fresh = scratch('winnow-golden-')
  writeRecording(fresh, recording)
  const lines = changed.flatMap(path => [
    '',
    `${join(GOLDEN, scenario, path)}${stored[path] === undefined ? ' is new' : ''}${recording[path] === undefined ? ' is gone' : ''}`,
    ...diffLines(join(folder, path), join(fresh, path)),
  ])
  const cut =
    lines.length > MAX_LINES
      ? [...lines.slice(0, MAX_LINES), `… and ${lines.length - MAX_LINES} more lines`]
      : lines
  expect.fail(
    [
      `${changed.length} of ${paths.length} files of the golden campaign ${scenario} changed (- stored, + now):`,
      ...cut,
      '',
      `If this is intended: WINNOW_GOLDEN=write npm run golden, then read git diff ${GOLDEN}`,
    ].join('\n'),
  )
}

function writeRecording(folder: string, recording: Recording): void {
  for (const [path, text] of Object.entries(recording)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
}

function readRecording(folder: string): Recording {
  if (!existsSync(folder)) return {}
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name))
  return Object.fromEntries(files.map(file => [file.slice(folder.length + 1), readFileSync(file, 'utf8')]))
}

/** Changed lines with their line numbers; of long lines only what differs and a little around it. */
function diffLines(stored: string, fresh: string): string[] {
  const [before, after] = [stored, fresh].map(file => (existsSync(file) ? file : '/dev/null'))
  const argv = ['diff', '--no-index', '--no-color', '-U0', before ?? '', after ?? '']
  const { stdout } = spawnSync('git', argv, { env: ENV, encoding: 'utf8', maxBuffer: 2 ** 28 })
  const hunks = stdout.split(/^(?=@@ )/m).slice(1)
  return hunks.flatMap(hunk => {
    const [place = '', ...lines] = hunk.trimEnd().split('\n')
    const removed = lines.filter(line => line.startsWith('-'))
    const added = lines.filter(line => line.startsWith('+'))
    return [place.replace(/(?<=@@.*@@).*/, ''), ...Array.from(pairUp(removed, added)).flat()]
  })
}

function* pairUp(removed: readonly string[], added: readonly string[]): Generator<string[]> {
  for (let at = 0; at < Math.max(removed.length, added.length); at++) {
    const [before, after] = [removed[at], added[at]]
    if (before === undefined || after === undefined)
      yield [before ?? after ?? ''].map(line => line.slice(0, 4 * CONTEXT))
    else yield shortenToDifference(before, after)
  }
}

function shortenToDifference(before: string, after: string): string[] {
  let start = 1
  while (start < before.length && before[start] === after[start]) start += 1
  let end = 0
  const shared = Math.min(before.length, after.length) - start
  while (end < shared && before.at(-1 - end) === after.at(-1 - end)) end += 1
  return [before, after].map(line => {
    const from = Math.max(1, start - CONTEXT)
    const to = Math.min(line.length, line.length - end + CONTEXT)
    return `${line[0]}${from > 1 ? '…' : ''}${line.slice(from, to)}${to < line.length ? '…' : ''}`
  })
}
