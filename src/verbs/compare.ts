import { relative } from 'node:path'
import type { RepositoryContext } from '../engine/open.ts'
import { UserError } from '../errors.ts'
import { renderComparisonReport } from '../report/compare-text.ts'
import { type ComparisonResult, toCompareExitCode, buildCompareView } from '../report/compare-view.ts'
import { withRepository } from './at-campaign.ts'
import type { Call } from './call.ts'
import { HEAD_LABEL, createComparisonProgress } from './compare/measure.ts'
import { writeRawComparison } from './compare/raw.ts'
import {
  type ComparisonOptions,
  findComparisonFailure,
  renderLiveComparison,
  measureUntilEnd,
} from './compare/run.ts'
import { type ComparedSides, resolveSides, formatFew } from './compare/sides.ts'
import { COMPARE_OPTIONS, buildCompareSpec, parsePositiveNumber } from './compare/spec.ts'
import { DEFAULT_PREFIX } from './known-campaigns.ts'
import { showLive } from './live.ts'
import { createMeasuringTime } from './measuring-time.ts'
import type { Verb } from './verb.ts'

export const compareVerb: Verb = {
  name: 'compare',
  group: 'start',
  summary: 'say whether one commit is better than another; nothing is written',
  access: 'apart',
  arguments: [
    { name: 'base', summary: 'a branch, tag or commit', required: true },
    {
      name: 'head',
      summary: 'another; by default your work tree as it stands, with what is not committed and not ignored',
      required: false,
    },
  ],
  command: {
    name: 'command',
    summary:
      'what to measure, run in a fresh copy of each side: words of one command, or one quoted line for the shell',
  },
  options: [
    ...COMPARE_OPTIONS,
    {
      name: 'max-minutes',
      value: 'minutes',
      summary: 'stop after measuring so long, even without an answer; waiting is not counted',
    },
    { name: 'raw', value: 'file', summary: 'write every pair to this file, as JSON lines' },
    { name: 'json', summary: 'print JSON; progress goes to stderr' },
    { name: 'yes', short: 'y', summary: 'do not ask before a comparison that takes more than an hour' },
  ],
  examples: [
    'winnow compare main -- npm run bench',
    'winnow compare main my-branch --setup "npm ci" -- npm run bench',
    'winnow compare main HEAD -- npm run bench || [ $? -ne 15 ]',
    'winnow compare v1.2.0 v1.3.0 --metric bytes --max-minutes 10 -- node size.js',
  ],
  exits: {
    0: 'the second is better',
    10: 'no gain: a gain worth having is ruled out, and harm is not shown',
    11: 'not proven',
    12: 'refused: an execution changed files it must not change',
    13: 'broken: the command or a gate failed',
    15: 'worse: harm is shown',
    130: 'interrupted; what was known is said',
  },
  run(call) {
    if ((call.given.text('remote') ?? 'none') !== 'none')
      throw new UserError('compare reads this repository alone', {
        fix: 'git fetch, then name the branch as git does: origin/main',
      })
    const around = { ...call.around, remote: 'none' }
    buildCompareSpec(call.given, '.')
    const minutes = parsePositiveNumber(call.given, 'max-minutes')
    return withRepository({ ...call, around }, DEFAULT_PREFIX, workshop =>
      runComparison({ ...call, around }, workshop, {
        spec: buildCompareSpec(call.given, getRelativeDirectory(workshop, around.directory)),
        minutes,
      }),
    )
  },
}

/** Where the person is, in the repository: there the command is run on both sides. */
function getRelativeDirectory({ checkout: { topLevel } }: RepositoryContext, directory: string): string {
  return topLevel === null ? '.' : relative(topLevel, directory) || '.'
}

async function runComparison(
  call: Call,
  workshop: RepositoryContext,
  asked: ComparisonOptions,
): Promise<number> {
  const say = (line: string) => call.around.progress.say(line)
  const sides = await resolveSides(call, workshop)
  for (const note of sides.notes) say(`note: ${note}`)
  const same = sides.differing.length === 0
  if (!same) say(describeDifference(sides))
  const time = createMeasuringTime(asked.minutes, () => call.around.clock.monotonic())
  const known = createComparisonProgress()
  const measuring = { ...asked, sides, known, asking: false }
  const end = same
    ? 'same'
    : await showLive(
        call,
        elapsed => renderLiveComparison(measuring, elapsed),
        () => measureUntilEnd(call, workshop, measuring, time),
      )
  const seconds = time.seconds()
  const failure = await findComparisonFailure(call, workshop, measuring)
  const compared: ComparisonResult = {
    ...known,
    ...sides,
    ...asked,
    label: HEAD_LABEL,
    seconds,
    end,
    failure,
  }
  const view = buildCompareView(compared)
  const raw = call.given.text('raw')
  if (raw !== undefined) await writeRawComparison(call, raw, view, compared)
  if (call.given.flag('json'))
    call.terminal.json({ ...view, end, differing: sides.differing, notes: sides.notes })
  else for (const line of renderComparisonReport(view, compared, sides.differing)) call.terminal.out(line)
  return toCompareExitCode(view, end)
}

function describeDifference({ base, head, differing }: ComparedSides): string {
  const count = differing.length === 1 ? '1 file' : `${differing.length} files`
  return `${base.name} (${base.point.commit.slice(0, 12)}) and ${head.name} differ in ${count}: ${formatFew(differing)}`
}
