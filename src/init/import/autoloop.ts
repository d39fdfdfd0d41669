import { UserError } from '../../errors.ts'
import { toSafeLine } from '../../model/text.ts'
import { DataFile, dropEmpty, type ImportedFile, type Leftover, type ImportSource } from './imported.ts'
import { toKebabName } from '../../spec/schema.ts'

interface Heading {
  level: number
  title: string
  line: number
  /** Up to the next heading of any level, with the number of its first line. */
  body: string[]
}

/** program.md of autoloop: a front matter, then Goal, Target and Evaluation. */
export function importProgram(source: ImportSource): ImportedFile {
  const { text, file } = source
  const [, front = ''] = /^---\n([\s\S]*?)\n---\n/.exec(text) ?? []
  const settings = new DataFile({ file, text: `\n${front}` }).getTop()
  const headings = readHeadings(text)
  const goal = requireHeading(headings, 'Goal', file)
  const target = requireHeading(headings, 'Target', file)
  const evaluation = requireHeading(headings, 'Evaluation', file)
  const { metric, better } = readMetric(evaluation, goal)
  if (metric === null || better === null)
    throw new UserError(
      metric === null
        ? 'Evaluation names no metric'
        : `Evaluation does not say which way ${metric} is better`,
      {
        place: { file, line: evaluation.line },
        fix: 'write "The metric is `name`. **Higher is better.**" (or Lower) below the command',
      },
    )
  const command = readFence(evaluation)
  if (command === null)
    throw new UserError('Evaluation has no command between ``` lines', {
      place: { file, line: evaluation.line },
      fix: 'put the command that prints the metric there',
    })
  const scope = readTarget(target)
  if (scope.mutable.length === 0)
    throw new UserError('Target lists no file that may change', {
      place: { file, line: target.line },
      fix: 'list the files, one a line: - `path`',
    })
  const { paragraph, items } = readGoalText(goal)
  const spec = dropEmpty({
    description: paragraph,
    metric: {
      primary: {
        name: metric,
        direction: better === 'higher' ? 'maximize' : 'minimize',
        target: settings.number('target-metric'),
      },
    },
    measurement: { command },
    scope,
    advice: items,
    schedule: toSchedule(settings.text('schedule')),
  })
  settings.leave(
    'it limits a run of the agent; measurement.timeout_seconds limits the command, and timeout_seconds of a proposer limits the agent',
    'timeout-minutes',
  )
  const others = headings.filter(each => ![goal, target, evaluation].includes(each) && each.level > 1)
  const left: Leftover[] = [
    ...settings.listLeft(),
    ...others.map(({ title, line }) => ({
      line,
      text: `${title}: text for the agent is not imported; put what proposers should know under advice`,
    })),
  ]
  return { what: 'autoloop program', name: findName(source, headings), spec, ideas: [], results: [], left }
}

function readHeadings(text: string): Heading[] {
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

function requireHeading(headings: readonly Heading[], title: string, file: string): Heading {
  const found = headings.find(each => each.level === 2 && each.title.toLowerCase() === title.toLowerCase())
  if (found !== undefined) return found
  throw new UserError(`the program has no section "## ${title}"`, {
    place: { file },
    fix: 'a program of autoloop has ## Goal, ## Target and ## Evaluation',
  })
}

/** Programs live in a folder of their name, or in a file of it. */
function findName({ file }: ImportSource, headings: readonly Heading[]): string | null {
  const [name = '', folder = ''] = file.replace(/\.md$/i, '').split('/').toReversed()
  const own = name.toLowerCase() === 'program' ? folder : name
  return toKebabName(own) || toKebabName(headings.find(({ level }) => level === 1)?.title ?? '') || null
}

function readMetric(evaluation: Heading, goal: Heading): { metric: string | null; better: string | null } {
  const said = [evaluation, goal].map(({ body }) => body.join('\n'))
  const metric = said.map(text => /metric is (?:the )?`([^`]+)`/i.exec(text)?.[1]).find(Boolean) ?? null
  const better = said.map(text => /(higher|lower) is better/i.exec(text)?.[1]).find(Boolean)
  return { metric, better: better?.toLowerCase() ?? null }
}

function readFence({ body }: Heading): string | null {
  const start = body.findIndex(line => /^\s*```/.test(line))
  if (start === -1) return null
  const end = body.findIndex((line, at) => at > start && /^\s*```/.test(line))
  const command = body
    .slice(start + 1, end === -1 ? undefined : end)
    .join('\n')
    .trim()
  return command === '' ? null : command
}

/** Files before "Do not modify" may change, and those after it may not. */
function readTarget({ body }: Heading): { mutable: string[]; immutable: string[] } {
  const scope = { mutable: [] as string[], immutable: [] as string[] }
  let list = scope.mutable
  for (const line of body) {
    if (/\b(?:do not|don't|never)\s+(?:modify|change|edit|touch)/i.test(line)) list = scope.immutable
    const [, path] = /^\s*[-*+]\s+`([^`]+)`/.exec(line) ?? []
    if (path !== undefined) list.push(path)
  }
  return scope
}

const LONGEST_ITEM = 400

function readGoalText({ body }: Heading): { paragraph: string | undefined; items: string[] } {
  const blocks = body.join('\n').split(/\n\s*\n/)
  const paragraphs = blocks
    .map(block => block.trim())
    .filter(block => block !== '' && !/^[-*+]\s/.test(block))
  const items = body.flatMap(line => /^\s*[-*+]\s+(\S.*)$/.exec(line)?.[1] ?? [])
  const paragraph = toSafeLine(paragraphs.join(' '), 600)
  return {
    paragraph: paragraph === '' ? undefined : paragraph,
    items: items.map(item => toSafeLine(item, LONGEST_ITEM)),
  }
}

/** "every 6h" as cron. */
function toSchedule(schedule: string | undefined): string | undefined {
  const [, count, unit] = /^every\s+(\d+)\s*([hm])$/i.exec(schedule ?? '') ?? []
  if (count === undefined) return schedule
  return unit?.toLowerCase() === 'h' ? `17 */${count} * * *` : `*/${count} * * * *`
}
