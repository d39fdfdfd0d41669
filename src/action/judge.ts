import { formatCount } from '../decide/wording.ts'
import { runJudgeJob } from '../engine/jobs/judging.ts'
import { UserError } from '../errors.ts'
import { formatUsd } from '../judge/budget.ts'
import { MODEL_KEY } from '../measure/environment.ts'
import { isRetryableEnd } from '../model/event-schemas.ts'
import { serializeJobFile } from '../model/job-file.ts'
import { escapeMarkdown } from '../report/markdown.ts'
import { resolveInWorkspace } from './inputs.ts'
import { readJobEnvironment, watchForInterrupt } from './job.ts'
import { hideSecrets, reportFailure, setOutputs } from './outputs.ts'
import type { Task } from './root-pipe.ts'
import { createJobFile, reportJobEnd } from './saved-files.ts'

/** Items are texts of experiments: this job runs no experiment code, and its token can only read. */
export async function judgeItems({ inputs, env }: Task): Promise<number> {
  const { campaign, items } = inputs
  if (items === '')
    throw new UserError('command judge needs the input items', {
      fix: 'set it to the output items of the tick job of this run',
    })
  hideSecrets([env[MODEL_KEY] ?? ''])
  const job = readJobEnvironment(env, inputs, watchForInterrupt().signal)
  const result = await runJudgeJob({ ...job, items: resolveInWorkspace(env, items) })
  if ('idle' in result) {
    setOutputs(reportJobEnd({ line: `Requested no scores from models: ${result.idle}.`, result }))
    return 0
  }
  const { answers: entries, error } = result
  const file = createJobFile(env, { content: 'scores' })
  file.write(serializeJobFile('scores', { run: result.run, entries }))
  const requests = entries.reduce((sum, each) => sum + each.requests, 0)
  const usd = entries.reduce((sum, each) => sum + each.usd, 0)
  const scores = entries.reduce((sum, each) => sum + each.records.length, 0)
  const ended = entries.flatMap(each => each.ended ?? [])
  const outputs = reportJobEnd({
    line: `Received ${formatCount(scores, 'score')} for ${formatCount(entries.length, 'order')}: ${formatCount(requests, 'request')}, ${formatUsd(usd)}.`,
    details: ended.map(({ reason }) => `- ${escapeMarkdown(reason, 300)}`),
    result: { campaign, orders: entries.length, scores, requests, usd },
    file,
  })
  if (error !== null) return reportFailure(error, outputs)
  // Scores received before a failure are still handed over. The job fails because a person has to repair the
  // access to models.
  const failure = ended.find(({ is }) => !isRetryableEnd(is))
  if (failure !== undefined) {
    const what = `winnow could not request scores from models: ${failure.reason}`
    return reportFailure(new UserError(what), outputs)
  }
  setOutputs(outputs)
  return 0
}
