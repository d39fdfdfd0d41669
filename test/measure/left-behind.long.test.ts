import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { HarnessError } from '../../src/errors.ts'
import { copyFolder, isUnreachable, reopen } from '../../src/measure/file-system.ts'
import { readCapped, readOutputTail } from '../../src/measure/output/capped-file.ts'
import { removeUntracked } from '../../src/measure/layout.ts'
import {
  computeContentId,
  findTamperedPath,
  snapshotEverything,
  UncheckablePath,
} from '../../src/measure/tamper-check.ts'
import { type Experiment, laboratory } from './laboratory.ts'
import { scratch } from './scratch.ts'
import { selectCases } from '../support/cases.ts'

const ACTING = {
  'bench.sh': '. src/act.sh\necho "{\\"bytes\\": $(cat src/a/value)}"\n',
  'src/act.sh': ':\n',
  'src/a/value': '100\n',
}

const act = (script: string) => ({ 'exp-001': { 'src/act.sh': `${script}\n` } })

/** What one candidate does, and an order of another after it in the same work directory. */
async function leaving(script: string, rest: Partial<Experiment> = {}) {
  const lab = await laboratory()
  const left = await lab.measure({ files: ACTING, candidates: act(script), ...rest })
  const after = await lab.measure({ files: ACTING, candidates: act('true') })
  expect(after).toMatchObject({ tampered: null, runner_error: null })
  expect(after.executions).toHaveLength(2)
  return left
}

const nested = (count: number, where = '.') =>
  `perl -e 'chdir shift; mkdir "x" and chdir "x" for 1..${count}' ${where}`

/** The last file has the longest name that can be said on stage, and none where the side is stored. */
const TO_THE_LIMIT = `perl -e 'use Cwd; my $left = 4095 - length(getcwd());
while ($left > 202) { mkdir "y" x 200; chdir "y" x 200; $left -= 201 } open my $f, ">", "z" x ($left - 1)'`

const ENDLESS = `(${'["y" * 255 for _ in range(14)]'})`
const MANY_DEEP = `import os
for name in range(400):
    os.mkdir(str(name)); os.chdir(str(name)); depth = 1
    for part in ${ENDLESS} + ["z" * 255, "z" * 255, "z" * 255]:
        os.mkdir(part); os.chdir(part); depth += 1
    for _ in range(depth): os.chdir("..")`

describe("leftovers of a side are its own failure, not the machine's", () => {
  test.each(
    selectCases([
      ['folders nested deeper than a path may say', nested(2100)],
      ['such folders in its out directory', nested(2100, '"$WINNOW_OUT_DIR"')],
      ['what can be named on stage and not where it is stored', TO_THE_LIMIT],
    ]),
  )('%s', async (_, script) => {
    const { tampered, runner_error: failed } = await leaving(script)
    expect(failed).toBeNull()
    expect(tampered?.during).toBe('exp-001')
    expect(tampered?.path).toMatch(/^[^\0]{1,90}…, which is nested too deep to be inspected$/)
  })

  test.each(
    selectCases([
      ['a file where a folder of folders was', 'rm -r src; touch src'],
      ['a link to itself where a folder was', 'rm -r src; ln -s src src'],
      ['a tracked file larger than can be read', 'truncate -s 3G src/a/value'],
    ]),
  )('%s', async (_, script) => {
    const { tampered, runner_error: failed } = await leaving(`trap '${script}' EXIT`)
    expect(failed).toBeNull()
    expect(tampered).toMatchObject({ during: 'exp-001', path: expect.stringMatching(/^src/) })
  })

  test.each(
    selectCases([
      ['nothing', 'rm -rf "$PLACES"'],
      ['a file', 'rm -rf "$PLACES"; touch "$PLACES"'],
      ['a link', 'mv "$PLACES" "$PLACES.away"; ln -s "$PLACES.away" "$PLACES"'],
      ['a link, the other side behind it,', 'cd "$PLACES/../slots"; mv 1 away; ln -s away 1'],
    ]),
  )('%s in the place of all its places', async (_, script) => {
    const left = await leaving(`PLACES=$(dirname "$WINNOW_OUT_DIR"); trap '${script}' EXIT`)
    expect(left.runner_error).toBeNull()
    expect(left.tampered?.during).toBe('exp-001')
  })

  test('a file with two hard links may be larger than Node can read', async () => {
    const left = await leaving('truncate -s 3G big; ln big other')
    expect(left).toMatchObject({ tampered: null, runner_error: null })
  })

  test('an unreadable result file counts as missing', async () => {
    const closed = await leaving('echo 7 > "$WINNOW_RESULT_PATH"; chmod 000 "$WINNOW_RESULT_PATH"')
    expect(closed.runner_error).toBeNull()
    const [own] = closed.executions.filter(({ side }) => side === 'exp-001')
    // Root reads it, and it is no result then either.
    expect(['ok', 'bad-output']).toContain(own?.status)
  })

  test.each(
    selectCases([
      ['the folder of its places', 'chmod 555 "$WINNOW_OUT_DIR/.."'],
      ['a folder of its tree with something new in it', 'echo 1 > src/new; chmod 555 src'],
      ['a folder of its own', 'mkdir own; touch own/x; chmod 000 own'],
    ]),
  )('%s that it closed', async (_, script) => {
    const left = await leaving(script)
    expect(left).toMatchObject({ tampered: null, runner_error: null })
    expect(left.executions).toHaveLength(2)
  })

  test('files beside its tree are removed before a later order', async () => {
    const lab = await laboratory()
    const stray = '"$WINNOW_OUT_DIR/../stray"'
    const saw = async () => {
      const script = `test ! -e ${stray} || exit 9; echo 1 > ${stray}`
      const report = await lab.measure({ files: ACTING, candidates: act(script) })
      return report.executions.map(({ status }) => status)
    }
    expect([await saw(), await saw()]).toEqual([
      ['ok', 'ok'],
      ['ok', 'ok'],
    ])
  })

  test('a side that cannot be copied passes no gate', async () => {
    const gates = [{ name: 'tests', command: 'true', phase: 'post' }]
    const left = await leaving('touch closed; chmod 000 closed', { spec: { gates } })
    expect(left.runner_error).toBeNull()
    const own = left.gates.filter(({ side }) => side === 'exp-001')
    expect(own.map(({ passed }) => passed)).toEqual([process.getuid?.() === 0])
  })
})

describe('copying the files of a side', () => {
  const copying = (from: string) =>
    copyFolder({ from, to: join(scratch(), 'copy'), options: ['-a'], what: 'what it left' })

  test('fails as its failure, also with much output of cp', async () => {
    const from = join(scratch(), 'from')
    onTestFinished(() => void execFileSync('rm', ['-rf', '--', from]))
    mkdirSync(from)
    execFileSync('python3', ['-c', MANY_DEEP], { cwd: from })
    await expect(copying(from)).rejects.toThrow(HarnessError)
    await expect(copying(from)).rejects.toThrow('what it left cannot be copied')
  })

  test('succeeds without obstacles', async () => {
    const from = scratch()
    writeFileSync(join(from, 'one'), '1')
    const to = join(scratch(), 'copy')
    await copyFolder({ from, to, options: ['-a'], what: 'what it left' })
    expect(readdirSync(to)).toEqual(['one'])
  })
})

describe('a closed folder is reopened', () => {
  test('for its owner only, and a link stays as it is', () => {
    const room = scratch()
    const folder = join(room, 'folder')
    mkdirSync(folder)
    chmodSync(folder, 0o155)
    symlinkSync(folder, join(room, 'link'))
    reopen(join(room, 'link'))
    expect(modeOf(folder)).toBe('155')
    reopen(folder)
    expect(modeOf(folder)).toBe('755')
    reopen(join(room, 'missing'))
    expect(existsSync(join(room, 'missing'))).toBe(false)
  })

  test('before anything in it is removed', async () => {
    const dir = scratch()
    mkdirSync(join(dir, 'sub'))
    for (const name of ['kept', 'new']) writeFileSync(join(dir, 'sub', name), '')
    chmodSync(join(dir, 'sub'), 0o555)
    await removeUntracked(dir, [{ path: 'sub/kept', mode: '100644', oid: 'a'.repeat(40) }])
    expect([readdirSync(join(dir, 'sub')), modeOf(join(dir, 'sub'))]).toEqual([['kept'], '755'])
  })
})

describe('inspecting it', () => {
  test('a file below another file, or a loop of links, counts as missing', () => {
    const dir = scratch()
    mkdirSync(join(dir, 'a/b'), { recursive: true })
    writeFileSync(join(dir, 'a/b/c'), '')
    const files = [
      { path: 'a/b/c', mode: '100644', oid: computeContentId(join(dir, 'a/b/c'), false, 'sha1') },
    ]
    const seal = snapshotEverything(dir, files, 'sha1')
    const entries = seal.entries.filter(({ path }) => path === 'a/b/c')
    execFileSync('rm', ['-r', join(dir, 'a')])
    writeFileSync(join(dir, 'a'), '')
    expect(findTamperedPath({ ...seal, entries }, dir, 'sha1')).toBe('a/b/c')
    execFileSync('ln', ['-sfn', 'a', join(dir, 'a')])
    expect(findTamperedPath({ ...seal, entries }, dir, 'sha1')).toBe('a/b/c')
  })

  test('a path that is too long is named by its beginning', () => {
    const dir = scratch()
    onTestFinished(() => void execFileSync('rm', ['-rf', '--', dir]))
    execFileSync('sh', ['-c', nested(2100)], { cwd: dir })
    expect(() => snapshotEverything(dir, [], 'sha1')).toThrow(UncheckablePath)
    expect(() => snapshotEverything(dir, [], 'sha1')).toThrow(/^(?:x\/){40}… is nested too deep/)
  })

  test("a failure of the machine is not reported as a side's", () => {
    const failing = (code: string) => Object.assign(new Error(code), { code })
    expect(['ENOTDIR', 'EACCES', 'ENOTCONN'].map(code => isUnreachable(failing(code)))).toEqual([
      true,
      true,
      true,
    ])
    expect(['EIO', 'EMFILE', 'ENOSPC'].map(code => isUnreachable(failing(code)))).toEqual([
      false,
      false,
      false,
    ])
  })

  test('a file without permissions counts as missing', () => {
    const path = join(scratch(), 'closed')
    writeFileSync(path, '1')
    chmodSync(path, 0)
    const readable = process.getuid?.() === 0
    expect([readCapped(path).kind, readOutputTail(path)]).toEqual(readable ? ['text', '1'] : ['missing', ''])
  })
})

function modeOf(path: string): string {
  return execFileSync('stat', ['-c', '%a', path], { encoding: 'utf8' }).trim()
}
