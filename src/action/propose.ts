import { plural } from '../decide/wording.ts'
import { mkdtempSync, renameSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { askOrdered } from '../engine/ordered-asking.ts'
import { MODEL_KEY } from '../measure/secret-names.ts'
import { type Answers, ANSWERS_ARTIFACT, ANSWERS_FILE, answersText } from '../propose/answers-file.ts'
import { cell } from '../report/markdown.ts'
import { definedIn } from './inputs.ts'
import { LaterCode } from './later-code.ts'
import { attemptOf, runIdOf } from './run-id.ts'
import { emptyRunnerFiles } from './runner-files.ts'
import { RECORDED_LATER } from './recorded-later.ts'
import { failed, said, setOutputs, summarise } from './runner-protocol.ts'
import { waiting } from './waiting.ts'

/** What the clean process is told, beside an environment without secrets but one. */
const taskSchema = z.strictObject({ campaign: z.string(), directory: z.string() })

const env = definedIn(process.env)
const interrupted = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interrupted.abort())
try {
  process.exitCode = await proposeHere(taskSchema.parse(JSON.parse(process.argv[2] ?? 'null')))
} catch (error) {
  process.exitCode = interrupted.signal.aborted ? cancelled() : failed(env, error)
}

/** The tick that follows finds no file, and gives the askings up. */
function cancelled(): number {
  console.log('Cancelled: the programs that were being asked were stopped.')
  setOutputs(env, {})
  return 130
}

async function proposeHere({ campaign, directory }: z.infer<typeof taskSchema>): Promise<number> {
  const room = resolve(env['RUNNER_TEMP'] ?? tmpdir())
  const { [MODEL_KEY]: modelKey = '', ...rest } = env
  const say = (line: string) => console.log(said(line))
  if (modelKey === '') say(`${MODEL_KEY} is empty: programs that ask a model here have no key.`)
  // Programs run as the user of this job, and the best code so far with them.
  const later = new LaterCode(env, { program: fileURLToPath(import.meta.url), node: process.execPath })
  const answers = await askOrdered({
    directory: resolve(env['GITHUB_WORKSPACE'] ?? '.', directory),
    campaign,
    workDir: join(room, 'winnow'),
    runId: runIdOf(env),
    attempt: attemptOf(env),
    modelKey,
    env: rest,
    clock: { now: () => Date.now(), monotonic: () => performance.now(), sleep: waiting },
    progress: { say },
    signal: interrupted.signal,
  }).finally(() => {
    emptyRunnerFiles(env)
    later.requireUnchanged()
  })
  tell(answers, room)
  return 0
}

function withoutIdea({ answers }: Answers): string[] {
  return answers.flatMap(answer => (answer.ok ? [] : [`- ${cell(answer.reason, 300)}`]))
}

/** The file gets its name when no program is alive any more, in a directory that nobody knew. */
function tell(answers: Answers | { nobody: string }, room: string): void {
  if ('nobody' in answers) {
    const line = `No program was asked for an idea: ${answers.nobody}.`
    console.log(said(line))
    summarise(env, said(line))
    return setOutputs(env, { 'result-json': JSON.stringify(answers) })
  }
  const file = join(mkdtempSync(join(room, 'winnow-answers-')), ANSWERS_FILE)
  writeFileSync(`${file}.part`, answersText(answers))
  renameSync(`${file}.part`, file)
  const ideas = answers.answers.filter(({ ok }) => ok).length
  const asked = answers.answers.length
  const line = `Asked for ${plural(asked, 'idea')} and got ${ideas}. ${RECORDED_LATER}`
  console.log(line)
  summarise(env, [line, ...withoutIdea(answers)].join('\n'))
  const result = { campaign: answers.campaign, asked, ideas }
  setOutputs(env, { 'result-json': JSON.stringify(result), report: file, artifact: ANSWERS_ARTIFACT })
}
