import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type JudgingJobResult, runJudgingJob } from '../engine/jobs/judging-job.ts'
import { UserError } from '../errors.ts'
import { formatUsd } from '../judge/budget.ts'
import { SCORES_ARTIFACT, SCORES_FILE } from '../judge/judged-report.ts'
import { MODEL_KEY } from '../measure/environment.ts'
import { isRetryableEnd } from '../model/event-schemas.ts'
import { escapeMarkdown } from '../report/markdown.ts'
import type { ActionEnv } from './inputs.ts'
import {
  getTempDir,
  RECORDED_LATER,
  readAttempt,
  readRunId,
  resolveInWorkspace,
  SYSTEM_CLOCK,
  SYSTEM_RANDOM,
} from './job.ts'
import { appendSummary, hideSecrets, type Outputs, reportFailure, setOutputs, toLogLine } from './outputs.ts'
import type { Task } from './root-pipe.ts'

/**
 * Asks models to score the items that this run's tick handed over. Items are texts of experiments: this job
 * runs no experiment code, and its token can only read.
 */
export async function judgeItems({ inputs, env }: Task): Promise<number> {
  const { campaign, directory, items } = inputs
  if (items === '')
    throw new UserError('command judge needs the input items', {
      fix: 'give it the file that the tick of this run handed on (its output items)',
    })
  const interrupted = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interrupted.abort())
  hideSecrets([env[MODEL_KEY] ?? ''])
  const tempDir = getTempDir(env)
  const judged = await runJudgingJob({
    directory: resolveInWorkspace(env, directory),
    campaign,
    items: resolveInWorkspace(env, items),
    workDir: join(tempDir, 'winnow'),
    runId: readRunId(env),
    attempt: readAttempt(env),
    env,
    clock: SYSTEM_CLOCK,
    random: SYSTEM_RANDOM,
    progress: { say: line => console.log(toLogLine(line)) },
    signal: interrupted.signal,
  })
  return reportScores(env, judged, tempDir)
}

function reportScores(env: ActionEnv, judged: JudgingJobResult, tempDir: string): number {
  if ('nobody' in judged) {
    const line = toLogLine(`Nothing is scored: ${judged.nobody}.`)
    console.log(line)
    appendSummary(line)
    setOutputs({ 'result-json': JSON.stringify(judged) })
    return 0
  }
  const { scores, broken } = judged
  const file = join(mkdtempSync(join(tempDir, 'winnow-scores-')), SCORES_FILE)
  writeFileSync(file, `${JSON.stringify(scores)}\n`)
  const { campaign, judgings } = scores
  const sum = (field: 'requests' | 'usd') => judgings.reduce((total, each) => total + each[field], 0)
  const records = judgings.reduce((total, each) => total + each.records.length, 0)
  const result = {
    campaign,
    orders: judgings.length,
    scores: records,
    requests: sum('requests'),
    usd: sum('usd'),
  }
  const line = `${records} scores of ${judgings.length} orders, ${result.requests} requests, ${formatUsd(result.usd)}. ${RECORDED_LATER}`
  console.log(line)
  const ended = judgings.flatMap(each => each.ended ?? [])
  appendSummary(
    [line, ...ended.map(({ reason }) => `- ${escapeMarkdown(toLogLine(reason), 300)}`)].join('\n'),
  )
  const outputs: Outputs = { 'result-json': JSON.stringify(result), report: file, artifact: SCORES_ARTIFACT }
  if (broken !== null) return reportFailure(broken, outputs)
  const failure = ended.find(({ is }) => !isRetryableEnd(is))
  // Scores received before the failure are still handed over. The job fails because a person has to repair
  // the access to models.
  if (failure !== undefined)
    return reportFailure(new UserError(`models could not be asked: ${failure.reason}`), outputs)
  setOutputs(outputs)
  return 0
}
