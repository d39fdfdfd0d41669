import { mkdtempSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { formatCount } from '../decide/wording.ts'
import { runAskingJob } from '../engine/jobs/asking-job.ts'
import { type Answers, ANSWERS_ARTIFACT, ANSWERS_FILE, renderAnswersFile } from '../ideas/answers-file.ts'
import { MODEL_KEY } from '../measure/environment.ts'
import { escapeMarkdown } from '../report/markdown.ts'
import { omitUndefined } from './inputs.ts'
import {
  getTempDir,
  readAttempt,
  readRunId,
  RECORDED_LATER,
  resolveInWorkspace,
  SYSTEM_CLOCK,
} from './job.ts'
import { appendSummary, reportFailure, setOutputs, toLogLine, writeSummary } from './outputs.ts'
import { clearRunnerFiles, LaterCode } from './sandbox.ts'

/** The task of a process whose environment holds no secret but the model key. */
const taskSchema = z.strictObject({ campaign: z.string(), directory: z.string() })

const env = omitUndefined(process.env)
const interrupted = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interrupted.abort())
try {
  process.exitCode = await askProposers(taskSchema.parse(JSON.parse(process.argv[2] ?? 'null')))
} catch (error) {
  process.exitCode = interrupted.signal.aborted ? handleCancelledProposals() : reportFailure(error)
}
await writeSummary()

/** The next tick finds no file and marks the requests as lost. */
function handleCancelledProposals(): number {
  console.log('Cancelled: the programs that were being asked were stopped.')
  setOutputs({})
  return 130
}

async function askProposers({ campaign, directory }: z.infer<typeof taskSchema>): Promise<number> {
  const tempDir = getTempDir(env)
  const { [MODEL_KEY]: modelKey = '', ...rest } = env
  const say = (line: string) => console.log(toLogLine(line))
  if (modelKey === '') say(`${MODEL_KEY} is empty: programs that ask a model here have no key.`)
  // Proposers run as the user of this job, and so does the best code so far.
  const laterCode = new LaterCode(env, { program: fileURLToPath(import.meta.url), node: process.execPath })
  const answers = await runAskingJob({
    directory: resolveInWorkspace(env, directory),
    campaign,
    workDir: join(tempDir, 'winnow'),
    runId: readRunId(env),
    attempt: readAttempt(env),
    modelKey,
    env: rest,
    clock: SYSTEM_CLOCK,
    progress: { say },
    signal: interrupted.signal,
  }).finally(() => {
    clearRunnerFiles(env)
    laterCode.requireUnchanged()
  })
  reportAnswers(answers, tempDir)
  return 0
}

function renderFailedAnswers({ answers }: Answers): string[] {
  return answers.flatMap(answer => (answer.ok ? [] : [`- ${escapeMarkdown(answer.reason, 300)}`]))
}

/**
 * Writes into a new directory with a random name, after all programs have ended, and renames the file last.
 */
function reportAnswers(answers: Answers | { nobody: string }, tempDir: string): void {
  if ('nobody' in answers) {
    const line = `No program was asked for an idea: ${answers.nobody}.`
    console.log(toLogLine(line))
    appendSummary(toLogLine(line))
    return setOutputs({ 'result-json': JSON.stringify(answers) })
  }
  const file = join(mkdtempSync(join(tempDir, 'winnow-answers-')), ANSWERS_FILE)
  writeFileSync(`${file}.part`, renderAnswersFile(answers))
  renameSync(`${file}.part`, file)
  const ideas = answers.answers.filter(({ ok }) => ok).length
  const requested = answers.answers.length
  const line = `Asked for ${formatCount(requested, 'idea')} and got ${ideas}. ${RECORDED_LATER}`
  console.log(line)
  appendSummary([line, ...renderFailedAnswers(answers)].join('\n'))
  const result = { campaign: answers.campaign, asked: requested, ideas }
  setOutputs({ 'result-json': JSON.stringify(result), report: file, artifact: ANSWERS_ARTIFACT })
}
