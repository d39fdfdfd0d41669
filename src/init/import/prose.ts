import { UserError } from '../../errors.ts'
import { toIdea } from '../../ideas/idea-block.ts'
import type { PriorResult } from '../../ideas/prior-results.ts'
import { toSafeLine } from '../../model/text.ts'
import type { IdeaText } from '../../plan/world.ts'
import { toKebabName } from '../../spec/schema.ts'
import {
  buildPriorResult,
  dropEmpty,
  type ImportedFile,
  type ImportSource,
  type Leftover,
} from './imported.ts'

// Sections of a Markdown file

export interface Heading {
  level: number
  title: string
  line: number
  /** Up to the next heading of any level. */
  body: string[]
}

/** Text before the first heading belongs to none. A `#` in a code block is no heading. */
export function readHeadings(text: string): Heading[] {
  const headings: Heading[] = []
  let fenced = false
  for (const [index, line] of text.split('\n').entries()) {
    if (/^\s*```/.test(line)) fenced = !fenced
    const [, marks, title = ''] = fenced ? [] : (/^(#{1,6})\s+(.*?)\s*$/.exec(line) ?? [])
    if (marks === undefined) headings.at(-1)?.body.push(line)
    else headings.push({ level: marks.length, title, line: index + 1, body: [] })
  }
  return headings
}

export function readFence({ body }: Pick<Heading, 'body'>): string | null {
  const start = body.findIndex(line => /^\s*```/.test(line))
  if (start === -1) return null
  const end = body.findIndex((line, at) => at > start && /^\s*```/.test(line))
  const command = body
    .slice(start + 1, end === -1 ? undefined : end)
    .join('\n')
    .trim()
  return command === '' ? null : command
}

const LONGEST_ITEM = 400
const LONGEST_PARAGRAPH = 600

/** The prose of a section, and the items of its lists with the lines that continue them. */
export function readGoalText({ body }: Pick<Heading, 'body'>): {
  paragraph: string | undefined
  items: string[]
} {
  const items: string[] = []
  const prose: string[] = []
  let isItem = false
  for (const line of body) {
    const [, item] = /^\s*(?:[-*+]|\d+[.)])\s+(\S.*)$/.exec(line) ?? []
    if (item !== undefined) items.push(item)
    else if (isItem && /^\s+\S/.test(line)) items.push(`${items.pop() ?? ''} ${line.trim()}`)
    else prose.push(line)
    isItem = item !== undefined || (isItem && /^\s+\S/.test(line))
  }
  const paragraph = toSafeLine(prose.join(' '), LONGEST_PARAGRAPH)
  return {
    paragraph: paragraph === '' ? undefined : paragraph,
    items: items.map(item => toSafeLine(item, LONGEST_ITEM)),
  }
}

export function leaveText({ title, line }: Heading): Leftover {
  return {
    line,
    text: `${title}: text for the agent is not imported; put what proposers should know under advice`,
  }
}

/** Items that begin with a path. One that says so may not change, also in a list of files that may. */
function readPaths(sections: readonly Heading[]): { open: string[]; closed: string[] } {
  const paths = { open: [] as string[], closed: [] as string[] }
  for (const section of sections)
    for (const item of readGoalText(section).items) {
      const [, path] = /^`([^`\s]+)`/.exec(item) ?? []
      if (path === undefined || /(?:^|\/)autoresearch\.\w+/.test(path)) continue
      const isClosed = /\b(?:do not|don't|never) (?:modify|change|edit|touch)|reference only/i.test(item)
      paths[isClosed ? 'closed' : 'open'].push(path)
    }
  return paths
}

/** Without these a spec cannot be written, and prose leaves nothing to guess from. */
function requireSaid(file: string, said: { metric: string | undefined; mutable: readonly string[] }): void {
  const [what, fix] =
    said.metric === undefined
      ? ['does not name its metric', 'name it, as its page of documentation shows']
      : ['names no file that may change', 'list the files, one a line: - `path`']
  if (said.metric === undefined || said.mutable.length === 0)
    throw new UserError(`${file} ${what}`, { place: { file }, fix })
}

// .evo/project.md

/** A page that an agent writes for other agents. Only what it lists is imported; its prose is left. */
export function importEvoProject({ text }: ImportSource): ImportedFile {
  const headings = readHeadings(text)
  const find = (pattern: RegExp) => headings.filter(({ title }) => pattern.test(title))
  const about = find(/^(?:project$|goal$|objective$|what the target does)/i)
  const closed = find(/out of scope|off limits|must stay|(?:do|must) not/i)
  const open = find(/in scope|may (?:be )?(?:edit|change)|can (?:be )?change/i).filter(
    each => !closed.includes(each),
  )
  const candidates = find(/future|candidates|ideas/i)
  const advised = find(/failure modes|gaming|constraints|caution|avoid/i)
  const inScope = readPaths(open)
  const immutable = [...inScope.closed, ...Object.values(readPaths(closed)).flat()]
  const read = [...about, ...closed, ...open, ...candidates, ...advised]
  return {
    what: 'evo project',
    name: null,
    spec: dropEmpty({
      description: about.map(each => readGoalText(each).paragraph).find(each => each !== undefined),
      scope: { mutable: inScope.open, immutable },
      advice: advised.flatMap(each => readGoalText(each).items),
    }),
    ideas: listIdeas(candidates),
    results: [],
    left: headings.filter(each => each.level > 1 && !read.includes(each)).map(leaveText),
  }
}

function listIdeas(sections: readonly Pick<Heading, 'body'>[]): IdeaText[] {
  return sections
    .flatMap(each => readGoalText(each).items)
    .map(hypothesis => toIdea({ hypothesis }, 'no description'))
}

// autoresearch.md, .auto/prompt.md and their lists of ideas

export function isSessionPrompt(text: string): boolean {
  return /^## Files in Scope\b/im.test(text) && /^## (?:Metrics|How to Run)\b/im.test(text)
}

export function importSessionPrompt({ text, file }: ImportSource): ImportedFile {
  const headings = readHeadings(text)
  const find = (title: string) => headings.filter(each => each.title.toLowerCase().startsWith(title))
  const [metrics, run] = [find('metrics'), find('how to run')]
  const offLimits = find('off limits')
  const open = readPaths(find('files in scope'))
  const closed = readPaths(offLimits)
  const read = [
    'objective',
    'metrics',
    'how to run',
    'files in scope',
    'off limits',
    'constraints',
    "what's been",
  ]
  const words = metrics.flatMap(({ body }) => body).join('\n')
  const [, primary, about = ''] = /\*\*Primary\*\*:?\s*`?([\w.µ]+)`?\s*(\([^)]*\))?/i.exec(words) ?? []
  const [, way] = /(higher|lower) is better/i.exec(about) ?? []
  const others = [...words.replace(/^.*\*\*Primary\*\*.*$/im, '').matchAll(/`([\w.µ]+)`/g)]
  const [title] = headings.filter(({ level }) => level === 1)
  requireSaid(file, { metric: primary, mutable: open.open })
  const unread = offLimits.flatMap(each => readGoalText(each).items).filter(item => !item.startsWith('`'))
  return {
    what: 'autoresearch session',
    name: toShortName(title?.title.replace(/^autoresearch:\s*/i, '') ?? ''),
    spec: dropEmpty({
      description: find('objective').map(each => readGoalText(each).paragraph)[0],
      metric: {
        primary: { name: primary, direction: way === undefined ? undefined : toDirection(way) },
        diagnostics: others.map(([, name]) => ({ name })),
      },
      measurement: { command: run.map(readCommand)[0], output: 'metric-lines' },
      scope: { mutable: open.open, immutable: [...open.closed, ...closed.open, ...closed.closed] },
      advice: [
        ...unread.map(item => `Off limits: ${item}`),
        ...find('constraints').flatMap(each => readGoalText(each).items),
      ],
    }),
    ideas: [],
    results: find("what's been").flatMap(each => readGoalText(each).items.map(item => toNote(file, item))),
    left: headings
      .filter(
        ({ level, title: own }) => level === 2 && !read.some(known => own.toLowerCase().startsWith(known)),
      )
      .map(leaveText),
  }
}

function toNote(file: string, idea: string): PriorResult {
  return buildPriorResult({ from: `autoresearch, ${file}`, idea, result: 'noted' })
}

/** A block, or the first code of the section. A script need not be executable. */
function readCommand(section: Heading): string | undefined {
  const command = readFence(section) ?? /`([^`]+)`/.exec(section.body.join('\n'))?.[1]
  return command?.replace(/^(?=[\w./-]+\.sh$)/, 'bash ')
}

function toDirection(way: string): 'maximize' | 'minimize' {
  return /high/i.test(way) ? 'maximize' : 'minimize'
}

const LONGEST_NAME = 40

function toShortName(title: string): string | null {
  const name = toKebabName(title)
  const short = name.length > LONGEST_NAME ? name.slice(0, LONGEST_NAME).replace(/-[^-]*$/, '') : name
  return short === '' ? null : short
}

/** A list of ideas, one an item. */
export function importIdeaFile({ text }: ImportSource): ImportedFile {
  const ideas = listIdeas([{ body: text.split('\n') }])
  return { what: 'autoresearch ideas', name: null, spec: {}, ideas, results: [], left: [] }
}

/** Checks that a session runs after a measurement that succeeded. */
export function importChecksScript({ file }: ImportSource): ImportedFile {
  const spec = { gates: [{ name: 'checks', command: `bash ${file}`, phase: 'post' }] }
  return { what: 'autoresearch checks', name: null, spec, ideas: [], results: [], left: [] }
}

// program.md of autoresearch

export function isTrainingProgram(text: string): boolean {
  return /^## Experimentation\b/im.test(text) && /results\.tsv/.test(text)
}

/** autoresearch prints `val_bpb: 0.99` lines. winnow reads METRIC lines. */
export function buildTrainingCommand(command: string): string {
  return String.raw`${command} | sed -nE 's/^([A-Za-z_]+): +([-+0-9.eE]+)$/METRIC \1=\2/p'`
}

/** The loop in prose: what may change, how it is run and what it prints are said in sentences. */
export function importTrainingProgram({ text, file }: ImportSource): ImportedFile {
  const headings = readHeadings(text)
  const about = headings.find(({ title }) => /^experimentation/i.test(title))
  const words = about?.body.join('\n') ?? ''
  const [can = '', cannot = ''] = words.split(/what you cannot do/i)
  const listFiles = (part: string) =>
    [...part.matchAll(/(?:modify|edit|change) `([\w./*-]+)`/gi)].flatMap(([, path]) => path ?? [])
  const [, best, named] = /goal is simple: get the (lowest|highest) `?(\w+)`?/i.exec(words) ?? []
  const [, metric = named] = /grep "\^(\w+):/.exec(text) ?? []
  const [, command] = /launch it[^`]*`([^`]+)`/i.exec(words) ?? []
  const [, minutes] = /exceeds? (\d+) minutes/i.exec(text) ?? []
  const [title] = headings.filter(({ level }) => level === 1)
  const mutable = listFiles(can)
  requireSaid(file, { metric, mutable })
  return {
    what: 'autoresearch program',
    name: toShortName(title?.title ?? ''),
    spec: dropEmpty({
      metric: { primary: { name: metric, direction: best && (best === 'lowest' ? 'minimize' : 'maximize') } },
      measurement: {
        command: command && buildTrainingCommand(command),
        output: 'metric-lines',
        timeout_seconds: minutes === undefined ? undefined : 60 * Number(minutes),
      },
      scope: { mutable, immutable: listFiles(cannot) },
    }),
    ideas: [],
    results: [],
    left: headings.filter(each => each.level === 2 && each !== about).map(leaveText),
  }
}

// The command /autoresearch

export function isAutoresearchCommand(text: string): boolean {
  return ['Goal', 'Scope', 'Metric', 'Verify'].every(key => new RegExp(`^\\s*${key}:`, 'im').test(text))
}

/** `Goal:`, `Scope:`, `Metric:`, `Direction:`, `Verify:`, `Guard:` and `Iterations:`, one a line. */
export function importAutoresearchCommand({ text }: ImportSource): ImportedFile {
  const lines = [...text.matchAll(/^[ \t]*([A-Z][A-Za-z-]*):[ \t]*(\S.*)$/gm)]
  const fields = new Map(lines.map(match => [match[1]?.toLowerCase() ?? '', match]))
  const get = (key: string) => fields.get(key)?.[2]?.trim()
  const findLine = (key: string) => text.slice(0, fields.get(key)?.index ?? 0).split('\n').length
  const said = get('metric') ?? ''
  const [, way] = /(higher|lower)[ _]is[ _]better/i.exec(`${get('direction') ?? ''} ${said}`) ?? []
  const metric = toKebabName(said.replace(/\(.*$/, '')).replaceAll('-', '_')
  const verify = get('verify')
  const guard = get('guard')
  const iterations = Number(get('iterations') ?? Number.NaN)
  const known = ['goal', 'scope', 'metric', 'direction', 'verify', 'guard', 'iterations']
  return {
    what: 'autoresearch command',
    name: toShortName(get('goal') ?? ''),
    spec: dropEmpty({
      description: get('goal'),
      metric: { primary: { name: metric, direction: way === undefined ? undefined : toDirection(way) } },
      measurement: { command: verify && buildLastNumber(verify, metric), output: 'metric-lines' },
      gates: guard === undefined ? [] : [{ name: 'guard', command: guard }],
      scope: {
        mutable:
          get('scope')
            ?.split(/[,\s]+/)
            .filter(pattern => pattern !== '') ?? [],
      },
      stopping: { max_iterations: Number.isInteger(iterations) ? iterations : undefined },
    }),
    ideas: [],
    results: [],
    left: [
      { line: findLine('verify'), text: `Verify: the last number that it prints is ${metric}` },
      ...[...fields.keys()]
        .filter(key => !known.includes(key))
        .map(key => ({ line: findLine(key), text: `${key}: winnow does not know this field` })),
    ],
  }
}

function buildLastNumber(command: string, metric: string): string {
  return String.raw`${command} | grep -oE '[-+]?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?' | tail -n 1 | sed 's/^/METRIC ${metric}=/'`
}
