import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { formatCount } from '../decide/wording.ts'
import { runProposeJob } from '../engine/jobs/propose-job.ts'
import { limitAnswers } from '../ideas/answers-file.ts'
import { MODEL_KEY } from '../measure/environment.ts'
import { serializeJobFile } from '../model/job-file.ts'
import { escapeMarkdown } from '../report/markdown.ts'
import { omitUndefined } from './inputs.ts'
import { readJobEnvironment, watchForInterrupt } from './job.ts'
import { reportFailure, setOutputs, toLogLine, writeSummary } from './outputs.ts'
import { clearRunnerFiles, LaterCode } from './sandbox.ts'
import { createJobFile, reportJobEnd } from './saved-files.ts'

/** The task of a process whose environment holds no secret but the model key. */
const taskSchema = z.strictObject({ campaign: z.string(), directory: z.string() })

const env = omitUndefined(process.env)
const interrupted = watchForInterrupt()
try {
  await askProposers(taskSchema.parse(JSON.parse(process.argv[2] ?? 'null')))
} catch (error) {
  if (interrupted.signal.aborted) {
    // The next tick finds no file and records the requests as lost.
    console.log('Cancelled: winnow stopped the running programs.')
    setOutputs({})
    process.exitCode = 130
  } else process.exitCode = reportFailure(error)
}

await writeSummary()

async function askProposers(task: z.infer<typeof taskSchema>): Promise<void> {
  const { [MODEL_KEY]: modelKey = '', ...rest } = env
  if (modelKey === '')
    console.log(toLogLine(`${MODEL_KEY} is empty: programs that call a model have no key.`))
  // Proposers run as the user of this job.
  const laterCode = new LaterCode(env, { program: fileURLToPath(import.meta.url), node: process.execPath })
  const job = readJobEnvironment(env, task, interrupted.signal)
  const result = await runProposeJob({ ...job, modelKey, env: rest }).finally(() => {
    clearRunnerFiles(env)
    laterCode.requireUnchanged()
  })
  if ('idle' in result)
    return setOutputs(reportJobEnd({ line: `Requested no ideas from programs: ${result.idle}.`, result }))
  const entries = limitAnswers(result.answers)
  const file = createJobFile(env, { content: 'answers' })
  file.write(serializeJobFile('answers', { run: result.run, entries }))
  const ideas = entries.filter(({ ok }) => ok).length
  const summary = {
    line: `Requested ${formatCount(entries.length, 'idea')}, received ${ideas}.`,
    details: entries.flatMap(answer => (answer.ok ? [] : [`- ${escapeMarkdown(answer.reason, 300)}`])),
    result: { campaign: task.campaign, asked: entries.length, ideas },
    file,
  }
  setOutputs(reportJobEnd(summary))
}
