import { Buffer } from 'node:buffer'
import type { Oid } from '../model/ids.ts'
import type { Isolation } from './isolation.ts'
import { type LongLivedProcess, startLongLivedProcess } from './long-lived-process.ts'
import type { GitTask } from './runner.ts'
import { type Mode, parseMode, unquotePath } from './tree.ts'

export interface DiffEntry {
  /** T: the type changed between file, symbolic link and submodule. */
  status: 'A' | 'D' | 'M' | 'T'
  path: string
  /** Null where the path does not exist on that side. */
  oldMode: Mode | null
  newMode: Mode | null
  oldOid: Oid | null
  newOid: Oid | null
  /** Lines; null for a binary file. */
  added: number | null
  deleted: number | null
}

const DIFF_OPTIONS = [
  '-r',
  '--raw',
  '--numstat',
  '--no-renames',
  '--no-abbrev',
  '--no-ext-diff',
  '--no-textconv',
] as const

export function diffTree(from: Oid, to: Oid): GitTask<DiffEntry[]> {
  return { args: ['diff-tree', ...DIFF_OPTIONS, from, to], parse: ({ stdout }) => parseDiff(stdout) }
}

const RAW = /^:(\d{6}) (\d{6}) ([0-9a-f]+) ([0-9a-f]+) ([ADMT])\t(.*)$/
const NUMSTAT = /^(\d+|-)\t(\d+|-)\t(.*)$/

export function parseDiff(stdout: string): DiffEntry[] {
  const entries = new Map<string, DiffEntry>()
  for (const line of stdout.split('\n')) {
    if (line === '') continue
    if (line.startsWith(':')) {
      const entry = parseRaw(line)
      entries.set(entry.path, entry)
    } else addCounts(entries, line)
  }
  return [...entries.values()]
}

function parseRaw(line: string): DiffEntry {
  const [, oldMode = '', newMode = '', oldOid = '', newOid = '', status = '', path = ''] =
    RAW.exec(line) ?? []
  if (status !== 'A' && status !== 'D' && status !== 'M' && status !== 'T') {
    throw new Error(`git diff-tree printed an unknown line: ${line}`)
  }
  return {
    status,
    path: unquotePath(path),
    oldMode: status === 'A' ? null : parseMode(oldMode),
    newMode: status === 'D' ? null : parseMode(newMode),
    oldOid: status === 'A' ? null : oldOid,
    newOid: status === 'D' ? null : newOid,
    added: 0,
    deleted: 0,
  }
}

function addCounts(entries: ReadonlyMap<string, DiffEntry>, line: string): void {
  const [, added = '', deleted = '', path = ''] = NUMSTAT.exec(line) ?? []
  const entry = entries.get(unquotePath(path))
  if (entry === undefined) throw new Error(`git diff-tree counted a path it did not list: ${line}`)
  entry.added = added === '-' ? null : Number(added)
  entry.deleted = deleted === '-' ? null : Number(deleted)
}

interface TreeComparison {
  from: Oid
  to: Oid
  answer(lines: string | null): void
}

/** Keeps one `diff-tree --stdin` running, so that a comparison needs no new process. */
export class TreeDiffer {
  readonly #isolation: Isolation
  readonly #queue: TreeComparison[] = []
  #process: LongLivedProcess | null = null
  #text: Buffer[] = []

  constructor(isolation: Isolation) {
    this.#isolation = isolation
  }

  /** Returns git's output, or null when git could not compare the trees. */
  compare(from: Oid, to: Oid): Promise<string | null> {
    const differ = (this.#process ??= this.#start())
    return new Promise(resolve => {
      this.#queue.push({ from, to, answer: resolve })
      differ.setBusy(true)
      differ.write(`${from} ${to}\n${END}`)
    })
  }

  async close(): Promise<void> {
    await this.#process?.close()
  }

  #start(): LongLivedProcess {
    const { configArgs, cwd, env } = this.#isolation
    const differ = startLongLivedProcess(
      { command: 'git', args: [...configArgs, 'diff-tree', '--stdin', ...DIFF_OPTIONS], cwd, env },
      {
        onOutput: chunk => {
          this.#read(chunk)
          if (this.#queue.length === 0) differ.setBusy(false)
        },
        onEnd: () => this.#answerNull(),
      },
    )
    return differ
  }

  /** git echoes a line that is not an object id. The echo marks the end of the output before it. */
  #read(chunk: Buffer): void {
    this.#text.push(chunk)
    if (chunk.at(-1) !== 0x0a) return
    const answers = Buffer.concat(this.#text).toString('utf8').split(END)
    const rest = answers.pop() ?? ''
    this.#text = rest === '' ? [] : [Buffer.from(rest)]
    for (const text of answers) this.#answer(text)
  }

  #answer(text: string): void {
    const question = this.#queue.shift()
    const head = `${question?.from} ${question?.to}\n`
    question?.answer(text.startsWith(head) ? text.slice(head.length) : null)
  }

  #answerNull(): void {
    this.#process = null
    this.#text = []
    for (const question of this.#queue.splice(0)) question.answer(null)
  }
}

/** Cannot occur in a path of the output, because git escapes this character. */
const END = '\u0001\n'
