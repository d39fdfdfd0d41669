import { randomBytes } from 'node:crypto'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type Judged, judgeOrdered } from '../engine/ordered-judging.ts'
import { UserError } from '../errors.ts'
import { SCORES_ARTIFACT, SCORES_FILE } from '../judge/handed-on.ts'
import { MODEL_KEY } from '../measure/secret-names.ts'
import { isToGoOn } from '../model/judging-end.ts'
import { usdText } from '../models/budget.ts'
import { cell } from '../report/markdown.ts'
import type { Task } from './commands.ts'
import type { Env } from './inputs.ts'
import { attemptOf, runIdOf } from './run-id.ts'
import { RECORDED_LATER } from './recorded-later.ts'
import { failed, hide, type Outputs, said, setOutputs, summarise } from './runner-protocol.ts'
import { waiting } from './waiting.ts'

/**
 * Asks models for the scores of what this run's tick handed on. What it asks about is text of experiments; nothing of
 * them runs here, and the token may read.
 */
export async function judgeHere({ inputs, env }: Task): Promise<number> {
  const { campaign, directory, items } = inputs
  if (items === '')
    throw new UserError('command judge needs the input items', {
      fix: 'give it the file that the tick of this run handed on (its output items)',
    })
  const interrupted = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interrupted.abort())
  hide([env[MODEL_KEY] ?? ''])
  const room = resolve(env['RUNNER_TEMP'] ?? tmpdir())
  const judged = await judgeOrdered({
    directory: resolve(env['GITHUB_WORKSPACE'] ?? '.', directory),
    campaign,
    items: resolve(env['GITHUB_WORKSPACE'] ?? '.', items),
    workDir: join(room, 'winnow'),
    runId: runIdOf(env),
    attempt: attemptOf(env),
    env,
    clock: { now: () => Date.now(), monotonic: () => performance.now(), sleep: waiting },
    random: { hex: bytes => randomBytes(bytes).toString('hex'), fraction: () => Math.random() },
    progress: { say: line => console.log(said(line)) },
    signal: interrupted.signal,
  })
  return tell(env, judged, room)
}

function tell(env: Env, judged: Judged, room: string): number {
  if ('nobody' in judged) {
    const line = said(`Nothing is scored: ${judged.nobody}.`)
    console.log(line)
    summarise(env, line)
    setOutputs(env, { 'result-json': JSON.stringify(judged) })
    return 0
  }
  const { scores, broken } = judged
  const file = join(mkdtempSync(join(room, 'winnow-scores-')), SCORES_FILE)
  writeFileSync(file, `${JSON.stringify(scores)}\n`)
  const { campaign, judgings } = scores
  const sum = (of: 'requests' | 'usd') => judgings.reduce((total, each) => total + each[of], 0)
  const records = judgings.reduce((total, each) => total + each.records.length, 0)
  const result = {
    campaign,
    orders: judgings.length,
    scores: records,
    requests: sum('requests'),
    usd: sum('usd'),
  }
  const line = `${records} scores of ${judgings.length} orders, ${result.requests} requests, ${usdText(result.usd)}. ${RECORDED_LATER}`
  console.log(line)
  const ended = judgings.flatMap(each => each.ended ?? [])
  summarise(env, [line, ...ended.map(({ reason }) => `- ${cell(said(reason), 300)}`)].join('\n'))
  const outputs: Outputs = { 'result-json': JSON.stringify(result), report: file, artifact: SCORES_ARTIFACT }
  if (broken !== null) return failed(env, broken, outputs)
  const failure = ended.find(({ is }) => !isToGoOn(is))
  // What was told until then is handed over; that models could not be asked, is for a person to see.
  if (failure !== undefined)
    return failed(env, new UserError(`models could not be asked: ${failure.reason}`), outputs)
  setOutputs(env, outputs)
  return 0
}
