import { rename, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { UserError } from '../../errors.ts'
import type { ComparisonResult, CompareView } from '../../report/compare-view.ts'
import type { Call } from '../call.ts'

/** Everything the verdict was computed from, as JSON lines, so that anybody can compute it again. */
export async function writeRawComparison(
  { around }: Call,
  path: string,
  view: CompareView,
  { paired, report, label }: ComparisonResult,
) {
  const { base, head, metric, scale, verdict } = view
  const rule = paired === null ? null : { ...paired.rule, terms: paired.terms }
  const lines: unknown[] = [{ kind: 'comparison', base, head, metric, scale, verdict, rule }]
  for (const [job, { runner, complete, pairs }] of (paired?.jobs ?? []).entries()) {
    lines.push({ kind: 'job', job: job + 1, runner, complete })
    for (const [pair, values] of pairs.entries())
      lines.push({ kind: 'pair', job: job + 1, pair: pair + 1, ...values })
  }
  if (paired === null)
    for (const { side, ...execution } of report?.executions ?? [])
      lines.push({ kind: 'execution', side: side === label ? 'head' : side, ...execution })
  const target = resolve(around.directory, path)
  const part = `${target}.${around.random.hex(4)}.part`
  try {
    await writeFile(part, lines.map(line => `${JSON.stringify(line)}\n`).join(''))
    await rename(part, target)
  } catch (cause) {
    throw new UserError(`the raw pairs could not be written to ${target}`, {
      place: { file: path },
      fix: 'give a file in a directory that exists and can be written',
      cause,
    })
  }
}
