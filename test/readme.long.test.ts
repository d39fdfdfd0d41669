import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { VERBS } from '../src/cli/registry.ts'
import { commandsOn, pageText, type ShownCommand } from './page-commands.ts'

const ROOT = new URL('..', import.meta.url).pathname
const README = pageText('README.md')

/** What a clone has and these commands need: the work tree's own, so that a change is tested before it is committed. */
const CLONE = ['package.json', 'dist', 'docs', 'fixtures', 'schema', 'skills']

interface Done extends ShownCommand {
  code: number
  out: string
}

let place: string
const done: Done[] = []

function cloned(): void {
  mkdirSync(join(place, 'winnow'))
  for (const part of CLONE) cpSync(join(ROOT, part), join(place, 'winnow', part), { recursive: true })
}

/** A home with nothing in it but a name for commits, and no registry to fetch anything from. */
function environment(): Record<string, string> {
  return {
    PATH: `${join(place, 'prefix/bin')}:${process.env['PATH'] ?? ''}`,
    HOME: join(place, 'home'),
    TMPDIR: join(place, 'tmp'),
    npm_config_prefix: join(place, 'prefix'),
    npm_config_registry: 'http://127.0.0.1:1/',
    npm_config_update_notifier: 'false',
    GIT_CONFIG_COUNT: '2',
    GIT_CONFIG_KEY_0: 'user.name',
    GIT_CONFIG_VALUE_0: 'ada',
    GIT_CONFIG_KEY_1: 'user.email',
    GIT_CONFIG_VALUE_1: 'ada@localhost',
  }
}

const NOT_PROVEN = 11
const MOST_REPEATS = 4

/** Every command of the page, one after the other as in one shell; the one about the tests is what CI runs. */
function typeAll(): void {
  const typed = commandsOn('README.md').filter(({ command }) => command !== 'npm ci && npm test')
  let cwd = place
  for (const shown of typed) {
    if (shown.command.startsWith('git clone ')) {
      cloned()
      continue
    }
    if (isShownAgain(shown, typed)) continue
    const script = `${shown.command}\ncode=$?; pwd > "$HOME/cwd"; exit $code`
    const type = () => spawnSync('sh', ['-c', script], { cwd, env: environment(), encoding: 'utf8' })
    let { status, stdout, stderr } = type()
    // On a busy machine, winnow may say that the gain is not proven yet, and to repeat the command.
    for (let again = 0; again < MOST_REPEATS && status === NOT_PROVEN && shown.exit !== NOT_PROVEN; again++)
      ({ status, stdout, stderr } = type())
    done.push({ ...shown, code: status ?? -1, out: `${stderr}${stdout}` })
    cwd = readFileSync(join(place, 'home/cwd'), 'utf8').trim()
  }
}

/** The first screen shows what the guide, further down, has typed. */
function isShownAgain({ command, output }: ShownCommand, typed: readonly ShownCommand[]): boolean {
  return output.length > 0 && typed.some(other => other.output.length === 0 && other.command === command)
}

/** Ids and what noise decides come out differently each time; the words and what is deterministic do not. */
function shape(line: string, noisy: boolean): string {
  const plain = line.trim().replace(/\b[0-9a-f]{12}\b/g, 'ID')
  if (!noisy) return plain
  return plain
    .replace(/(?:less than a minute|\d+(?:\.\d+)? (?:s|min)|\d+:\d\d)(?![\w.])/g, 'TIME')
    .replace(/▕.*▏/g, 'BAR')
    .replace(/(?<![\w-])\d+(?:\.\d+)?(?![\w])/g, 'N')
    .replace(/TIME(?: TIME)+/g, 'TIME')
}

beforeAll(() => {
  place = mkdtempSync(join(tmpdir(), 'winnow-readme-'))
  mkdirSync(join(place, 'home'))
  mkdirSync(join(place, 'tmp'))
  typeAll()
}, 600_000)
afterAll(() => rmSync(place, { recursive: true, force: true }))

describe('the README', () => {
  it('has commands that do what it says, typed one after the other', () => {
    const unexpected = done.filter(({ code, exit }) => code !== exit)
    expect(unexpected).toEqual([])
    expect(done.length).toBeGreaterThan(20)
  })

  const outputs = commandsOn('README.md').filter(({ output }) => output.length > 0)
  it.each(outputs)('shows what is really printed: $command', ({ command, output }) => {
    const noisy = !command.endsWith(' demo')
    const printed = done.find(each => each.command === command)?.out ?? ''
    const real = new Set(printed.split('\n').map(line => shape(line, noisy)))
    expect(
      output.filter(line => !real.has(shape(line, noisy))),
      printed,
    ).toEqual([])
  })

  it('shows the five that begin', () => {
    const verbs = ['demo', 'compare', 'init', 'try', 'run']
    const shown = outputs.map(({ command }) => / (\w+)/.exec(command.replace(/^node \S+/, 'winnow'))?.[1])
    expect(shown).toEqual(expect.arrayContaining(verbs))
  })

  it('shows the spec that init writes', () => {
    const block = /```yaml\n([\s\S]*?)```/.exec(README)?.[1]
    const init = done.find(({ command }) => command === 'winnow init')?.out ?? ''
    const written = /winnow: 1\n(?: {2}.*\n)*/.exec(init)?.[0] ?? ''
    expect(block).toBe(written.replace(/^ {2}/gm, ''))
  })

  it('leaves nothing behind but what it says', () => {
    const here = join(place, 'first-steps')
    const branches = spawnSync('git', ['-C', here, 'branch', '--format=%(refname:short)'], {
      encoding: 'utf8',
    })
    expect(branches.stdout.trim().split('\n')).toEqual(['keys', 'main', 'set'])
    expect(existsSync(join(here, '.winnow/speed.yaml'))).toBe(true)
    expect(readFileSync(join(here, 'src/unique.js'), 'utf8')).toContain('new Set')
  })

  it('names the commands of the first screen of winnow, and links to all others', () => {
    const first = VERBS.filter(({ group }) => group !== 'more').map(({ name }) => name)
    const named = (name: string) => README.includes(`winnow ${name}`) || README.includes(`\`${name}\``)
    expect(first.filter(name => !named(name))).toEqual([])
    expect(README).toContain('(docs/commands.md)')
  })

  it('is short, and has blocks that fit on a narrow screen where they are to be typed', () => {
    expect(README.split('\n').length).toBeLessThan(150)
    const lines = [...README.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, block = '']) => block.split('\n'))
    expect(lines.filter(line => line.length > 60)).toEqual([])
  })
})

describe('a clone', () => {
  it('has a program that can be run, so that linking it changes no file', () => {
    expect(statSync(join(ROOT, 'dist/cli.js')).mode & 0o111).toBe(0o111)
  })
})
