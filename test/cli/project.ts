import { Readable, Writable } from 'node:stream'
import { join } from 'node:path'
import { expect } from 'vitest'
import { runCommandLine } from '../../src/cli/run-command-line.ts'
import { createTerminal } from '../../src/cli/terminal.ts'
import type { Registries } from '../../src/ports.ts'
import { bareRemote, type Git, scratch, type UserRepository, userRepository } from '../git/scratch.ts'
import { SPEC } from './size-spec.ts'

export interface Answer {
  code: number
  out: string
  err: string
}

/** A person's repository with a spec, and winnow as that person runs it: the whole command line, in process. */
export interface Project extends UserRepository {
  cache: string
  winnow: (...argv: string[]) => Promise<Answer>
  /** The same with more: standard input, an interruption, an environment. */
  winnowWith: (more: More, ...argv: string[]) => Promise<Answer>
  json: (...argv: string[]) => Promise<Record<string, unknown>>
  write: (path: string, content: string) => void
  commit: (message: string, files?: Record<string, string>) => string
  /** Every ref with its value: what a verb that only looks must leave alone. */
  refs: () => string
}

export interface More {
  input?: string
  signal?: AbortSignal
  env?: Record<string, string>
  directory?: string
  /** Where winnow itself lies. */
  home?: string
  /** Somebody sits at the terminal. */
  attended?: boolean
  /** What tells when packages were published; without it, that is not asked. */
  registries?: Registries
}

export { SPEC }

export const FILES = {
  '.winnow/size.yaml': SPEC,
  'bench/size.sh': 'echo "{\\"bytes\\": $(wc -c < src/value)}"\n',
  'src/value': `${'a'.repeat(99)}\n`,
}

export function project(files: Record<string, string> = FILES): Project {
  const user = userRepository({ empty: true })
  user.commit('first', files)
  return projectIn(user)
}

/** A clone of a bare remote that has the same files. */
export function clonedProject(files: Record<string, string> = FILES): Project & { remote: Git } {
  const root = scratch('winnow-cli-')
  const bare = bareRemote({ root })
  const user = userRepository({ empty: true, dir: join(root, 'clone') })
  user.commit('first', files)
  user.git('remote', 'add', 'origin', bare.dir)
  user.git('push', '-q', 'origin', 'main')
  return { ...projectIn(user, bare.git), remote: bare.git }
}

export function projectIn(user: UserRepository, kept: Git = user.git): Project {
  const cache = join(scratch('winnow-cache-'), 'cache')
  const winnowWith: Project['winnowWith'] = (more, ...argv) => answerOf(user.dir, cache, more, argv)
  const winnow: Project['winnow'] = (...argv) => winnowWith({}, ...argv)
  return {
    ...user,
    cache,
    winnow,
    winnowWith,
    async json(...argv) {
      const { out, err, code } = await winnow(...argv, '--json')
      if (out === '') throw new Error(`exit ${code}: ${err}`)
      return JSON.parse(out)
    },
    refs: () => kept('for-each-ref', '--format=%(refname) %(objectname)'),
  }
}

async function answerOf(directory: string, cache: string, more: More, argv: string[]): Promise<Answer> {
  const out = sink()
  const err = sink()
  const input = Readable.from(more.input === undefined ? [] : [more.input])
  const words = createTerminal({
    input,
    out: out.stream,
    err: err.stream,
    colour: { out: false, err: false },
    attended: more.attended ?? false,
  })
  const env = { PATH: process.env['PATH'] ?? '', HOME: cache, USER: 'ada', ...more.env }
  const started = {
    env,
    directory: more.directory ?? directory,
    pid: process.pid,
    version: '0.0.0-test',
    ...(more.registries === undefined ? {} : { registries: more.registries }),
    ...(more.home === undefined ? {} : { program: { called: 'winnow', runtime: 'node', home: more.home } }),
  }
  const signal = more.signal ?? new AbortController().signal
  const code = await runCommandLine(['--cache-dir', cache, ...argv], started, words, signal)
  return { code, out: out.text(), err: err.text() }
}

function sink(): { stream: Writable; text: () => string } {
  const chunks: string[] = []
  const stream = new Writable({
    write(chunk, _encoding, done) {
      chunks.push(String(chunk))
      done()
    },
  })
  return { stream, text: () => chunks.join('') }
}

export const SHORT = `${'a'.repeat(49)}\n`

/** A commit of a person, beside the default branch, offered as an idea; on its tip or on another one. */
export async function offer(
  person: Project,
  value: string,
  options: readonly string[] = [],
  on = 'main',
): Promise<string> {
  person.git('checkout', '-q', '--detach', on)
  person.commit(`value of ${value.length}`, { 'src/value': value })
  const { code, out, err } = await person.winnow('propose', '-m', `${value.length} bytes`, ...options)
  person.git('checkout', '-q', 'main')
  expect([code, err]).toEqual([0, ''])
  return out
}

/** What every campaign must stand at its end. */
export async function proven(person: Project): Promise<void> {
  for (const verb of ['audit', 'replay']) {
    const { code, out } = await person.winnow(verb)
    expect([verb, code, out]).toEqual([verb, 0, out])
  }
}
