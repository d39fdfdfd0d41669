import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const ROOT = new URL('..', import.meta.url).pathname
const README = readFileSync(join(ROOT, 'README.md'), 'utf8')

let place: string
const env = { PATH: process.env['PATH'] ?? '', HOME: '' }

function winnow(...args: string[]): string {
  return execFileSync('node', [join(ROOT, 'dist/cli.js'), ...args], {
    cwd: join(place, 'try'),
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
}

/** Commit ids differ from run to run; everything else is what the README says. */
function withoutIds(text: string): string {
  return text.replace(/\b[0-9a-f]{12}\b/g, '<id>').trim()
}

function blocks(): string[] {
  return [...README.matchAll(/```text\n([\s\S]*?)```/g)].map(match => withoutIds(match[1] ?? ''))
}

beforeAll(() => {
  place = mkdtempSync(join(tmpdir(), 'winnow-readme-'))
  env.HOME = place
  cpSync(join(ROOT, 'fixtures/first-campaign'), join(place, 'try'), { recursive: true })
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', join(place, 'try'), ...args], { env, stdio: 'pipe' })
  git('init', '-b', 'main')
  git('add', '-A')
  git('-c', 'user.name=me', '-c', 'user.email=me@localhost', 'commit', '-m', 'start')
  winnow('run')
})
afterAll(() => rmSync(place, { recursive: true, force: true }))

describe('the README', () => {
  it('shows what the example really prints', () => {
    const [status, proofs] = blocks()
    expect(withoutIds(winnow('status'))).toBe(status)
    expect(withoutIds(`${winnow('audit')}${winnow('replay')}`)).toBe(proofs)
  })

  it('shows the spec of the example', () => {
    const shown = /```yaml\n([\s\S]*?)```/.exec(README)?.[1] ?? ''
    const plain = shown.replace(/ +#.*$/gm, '')
    expect(plain).toBe(readFileSync(join(ROOT, 'fixtures/first-campaign/.winnow/size.yaml'), 'utf8'))
  })

  it('names only commands that exist, and all of them', () => {
    const listed = [...winnow('help').matchAll(/^ {2}(\w+) {2,}/gm)].map(match => match[1] ?? '')
    const missing = listed.filter(
      verb =>
        !['help', 'version'].includes(verb) &&
        !README.includes(`\`${verb}\``) &&
        !README.includes(`winnow ${verb}`),
    )
    expect(missing).toEqual([])
  })
})
