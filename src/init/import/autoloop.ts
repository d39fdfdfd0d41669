import { UserError } from '../../errors.ts'
import { toKebabName } from '../../spec/schema.ts'
import { DataFile, dropEmpty, type ImportedFile, type ImportSource } from './imported.ts'
import { type Heading, leaveText, readFence, readGoalText, readHeadings } from './prose.ts'

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
  const schedule = toSchedule(settings.text('schedule'))
  if (schedule === undefined)
    settings.leave('cron cannot repeat in that interval; set schedule in the spec', 'schedule')
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
    schedule,
  })
  settings.leave(
    'it limits a run of the agent; measurement.timeout_seconds limits the command, and timeout_seconds of a proposer limits the agent',
    'timeout-minutes',
  )
  const others = headings.filter(each => ![goal, target, evaluation].includes(each) && each.level > 1)
  const left = [...settings.listLeft(), ...others.map(leaveText)]
  return { what: 'autoloop program', name: findName(source, headings), spec, ideas: [], results: [], left }
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

/** "every 6h" as a schedule. Undefined: cron has no interval beyond an hour in minutes, or a day in hours. */
function toSchedule(schedule: string | undefined): string | undefined {
  const [, count, unit] = /^every\s+(\d+)\s*([hm])$/i.exec(schedule ?? '') ?? []
  if (count === undefined) return schedule
  const isHours = unit?.toLowerCase() === 'h'
  const every = Number(count)
  const most = isHours ? 24 : 60
  if (every === most) return isHours ? 'daily' : 'hourly'
  if (every < 1 || every > most) return undefined
  return isHours ? `17 */${every} * * *` : `*/${every} * * * *`
}
