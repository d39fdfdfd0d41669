import {
  isAskingForScores,
  isCloning,
  isGivingUpRoot,
  isInstallingCounter,
  isListingSubjects,
  isMakingUsers,
  MODEL_KEY_ALONE,
} from './known-steps.ts'
import { type Job, parsedWorkflow, type Step, stepsOfAction, type Workflow } from './parsed.ts'

/** A rule that a workflow file breaks, and where. */
export interface Finding {
  rule: string
  where: string
}

type Rule = (file: { workflow: Workflow; text: string }) => string[]

/** Text that people can write: into a pull request, a comment, a branch name, an input. */
const FROM_OUTSIDE =
  /\$\{\{[^}]*(?:github\.event|github\.head_ref|github\.ref|inputs|steps|needs|matrix|env)\b/
const PINNED = /^[\w.-]+\/[\w./-]+@[0-9a-f]{40}$/
const DEFAULT_BRANCH = '$' + '{{ github.event.repository.default_branch }}'
/** Which commands decide and write, and which of them measures as well. */
const WRITES = /^(?:tick|settle|run|report)$/
const ASKS = /^(?:propose|judge)$/
const RUNS_OTHERS = /^(?:measure|propose|run)$/
const TOKEN = /github\.token|GITHUB_TOKEN|app-token/

const listJobs = ({ jobs }: Workflow) => Object.entries(jobs)
const listSteps = (workflow: Workflow) =>
  listJobs(workflow).flatMap(([name, { steps }]) => steps.map(step => ({ name, step })))
const usesAction = ({ uses }: Step, action: string) => uses?.startsWith(`${action}@`) === true
const readLevels = ({ permissions }: Job): Record<string, string> =>
  typeof permissions === 'string' ? { everything: permissions } : (permissions ?? {})
const readCommand = (step: Step) => String(step.with?.['command'] ?? '')
const listCommands = ({ steps }: Job) => steps.map(readCommand).filter(command => command !== '')
const readsOnly = (job: Job) => JSON.stringify(readLevels(job)) === '{"contents":"read"}'
/** What a step is given. */
const showGiven = (step: Step) => JSON.stringify([step.with ?? {}, step.env ?? {}])
/** The step with code of others; below nought where there is none. */
const findHandOver = ({ steps }: Job) => steps.findIndex(step => RUNS_OTHERS.test(readCommand(step)))
/** It may sign as the workflow, so it runs GitHub's action alone, on digests that jobs of winnow put out. */
function isAttesting({ steps, permissions, env, environment }: Job): boolean {
  const [list, attest, ...others] = steps
  return (
    others.length === 0 &&
    list !== undefined &&
    isListingSubjects(list) &&
    attest !== undefined &&
    usesAction(attest, 'actions/attest-build-provenance') &&
    JSON.stringify(attest.with) === '{"subject-checksums":"subjects.txt"}' &&
    JSON.stringify(permissions) === '{"attestations":"write","id-token":"write"}' &&
    [env, environment, attest.env].every(given => given === undefined)
  )
}
const isMeasuring = (job: Job) => listCommands(job).includes('measure')

function findJobs(workflow: Workflow, command: RegExp): [string, Job][] {
  return listJobs(workflow).filter(([, job]) => listCommands(job).some(each => command.test(each)))
}

/** Names the jobs of which something is not as it has to be. */
function nameJobs(jobs: readonly [string, Job][], isWrong: (job: Job, name: string) => boolean): string[] {
  return jobs.flatMap(([name, job]) => (isWrong(job, name) ? [name] : []))
}

const RIGHTS_AND_SECRETS: Readonly<Record<string, Rule>> = {
  'top-level permissions are none': ({ workflow }) =>
    JSON.stringify(workflow.permissions) === '{}' ? [] : ['permissions'],

  'every job says its permissions, and a reason stands beside each': ({ workflow, text }) => [
    ...nameJobs(listJobs(workflow), ({ permissions }) => permissions === undefined),
    ...text.split('\n').filter(line => /^ {6}[a-z-]+: (?:read|write)\b/.test(line) && !/ # \w/.test(line)),
  ],

  'writing is for jobs that decide': ({ workflow }) =>
    nameJobs(listJobs(workflow), job => {
      const writes = Object.values(readLevels(job)).some(level => level.startsWith('write'))
      const commands = listCommands(job)
      const decides = commands.length > 0 && commands.every(command => WRITES.test(command))
      const knows = ({ steps }: Job) =>
        steps.every(
          step =>
            step.run === undefined || isCloning(step) || isMakingUsers(step) || isInstallingCounter(step),
        )
      const isAlone = commands.includes('run') ? knows(job) : job.steps.every(({ run }) => run === undefined)
      return writes && !(decides && isAlone) && !isAttesting(job)
    }),

  "signing as the workflow is for a job with GitHub's action alone": ({ workflow }) =>
    nameJobs(listJobs(workflow), job => {
      const levels = readLevels(job)
      const signs = 'id-token' in levels || 'attestations' in levels || 'everything' in levels
      return signs && !isAttesting(job)
    }),

  'secrets are for jobs that ask models, behind an environment': ({ workflow, text }) => [
    ...nameJobs(listJobs(workflow), job => {
      const holds = JSON.stringify(job).includes('secrets.')
      const commands = listCommands(job)
      const asks = commands.length > 0 && commands.every(each => ASKS.test(each) || each === 'run')
      return holds && !(asks && job.environment !== undefined)
    }),
    ...(JSON.stringify([workflow.env ?? {}]).includes('secrets.') ? ['env'] : []),
    ...(/secrets: inherit/.test(text) ? ['secrets: inherit'] : []),
  ],

  'a job that measures has no secret, and a token only to clone': ({ workflow }) =>
    nameJobs(findJobs(workflow, /^measure$/), job => {
      const held = job.steps.filter(
        step => /secrets\./.test(showGiven(step)) || (TOKEN.test(showGiven(step)) && !isCloning(step)),
      )
      return !readsOnly(job) || held.length > 0 || job.env !== undefined || 'environment' in job
    }),

  'a job that asks programs holds one secret in one step, and a token only to clone': ({ workflow }) =>
    nameJobs(findJobs(workflow, /^propose$/), job => {
      const wrong = job.steps.filter((step, at) => {
        if (isCloning(step)) return false
        const isAsking = at === findHandOver(job)
        const holdsKey = JSON.stringify(step.env) === JSON.stringify(MODEL_KEY_ALONE)
        return TOKEN.test(showGiven(step)) || (isAsking ? !holdsKey : /secrets\./.test(showGiven(step)))
      })
      return !readsOnly(job) || wrong.length > 0 || job.env !== undefined
    }),

  'a job that asks models runs winnow alone, and holds one secret in one step': ({ workflow }) =>
    nameJobs(findJobs(workflow, /^judge$/), job => {
      const wrong = job.steps.filter(step => {
        if (readCommand(step) === 'judge') return !isAskingForScores(step) || TOKEN.test(showGiven(step))
        return step.uses?.startsWith('actions/') !== true || /secrets\.|github\.token/.test(showGiven(step))
      })
      return !readsOnly(job) || wrong.length > 0 || job.env !== undefined
    }),
}

const SOURCES: Readonly<Record<string, Rule>> = {
  'no job calls a workflow': ({ workflow }) => nameJobs(listJobs(workflow), ({ uses }) => uses !== undefined),

  'actions are pinned to commits, or come from the default branch': ({ workflow }) =>
    listJobs(workflow).flatMap(([name, { steps }]) =>
      steps.flatMap(({ uses }, at) => {
        if (uses === undefined || PINNED.test(uses)) return []
        const before = steps.slice(0, at)
        const isOwn = uses === './' && before.some(isCheckingOutDefault)
        const isCloned = OF_THE_CLONE.test(uses) && before.some(isCloning)
        return isOwn || isCloned ? [] : [`${name}: ${uses}`]
      }),
    ),

  'no credential stays in a clone': ({ workflow }) =>
    listSteps(workflow).flatMap(({ name, step }) => {
      const persists = usesAction(step, 'actions/checkout') && step.with?.['persist-credentials'] !== false
      const clones = /git (?:clone|fetch|pull)/.test(step.run ?? '') && !isCloning(step)
      return persists || clones ? [name] : []
    }),

  'a file with triggers of pull requests checks out the default branch alone': ({ workflow }) => {
    const strangers = ['pull_request_target', 'pull_request_review', 'issue_comment'] as const
    const mustSay = strangers.some(event => event in workflow.on)
    return listSteps(workflow).flatMap(({ name, step }) => {
      const ref = step.with?.['ref']
      const isDefault = ref === DEFAULT_BRANCH || (ref === undefined && !mustSay)
      return usesAction(step, 'actions/checkout') && !isDefault ? [`${name}: ${String(ref)}`] : []
    })
  },

  'no expression stands in a script': ({ workflow }) =>
    listSteps(workflow).flatMap(({ name, step }) => (FROM_OUTSIDE.test(step.run ?? '') ? [name] : [])),

  'nothing is obeyed that is printed': ({ text }) =>
    [...text.matchAll(/ACTIONS_ALLOW_UNSECURE_COMMANDS|GITHUB_ENV|GITHUB_PATH/g)].map(([what]) => what),

  'no cache is saved or restored': ({ workflow }) =>
    listSteps(workflow).flatMap(({ name, step }) => {
      const { cache = false, 'package-manager-cache': managers } = step.with ?? {}
      const saves = usesAction(step, 'actions/setup-node') && managers !== false
      const goes = usesAction(step, 'actions/setup-go') && step.with?.['cache'] !== false
      return /^actions\/cache(?:\/|@)/.test(step.uses ?? '') || cache !== false || saves || goes ? [name] : []
    }),
}

const isCheckingOutDefault = (step: Step) =>
  usesAction(step, 'actions/checkout') && step.with?.['ref'] === DEFAULT_BRANCH && !('path' in step.with)
const OF_THE_CLONE = /^\.\/repository(?:\/\.github\/actions\/winnow-(?:setup|agents))?$/

const TRIGGERS: Readonly<Record<string, Rule>> = {
  'pull requests of strangers start jobs for their base branch, on four occasions': ({ workflow }) => {
    const { pull_request_target: target, pull_request_review: review, issue_comment: comment } = workflow.on
    const isFiltered =
      target === undefined ||
      (/^\{"branches":\["[a-z-]+\/\*\*"(?:,"[a-z-]+\/\*\*")*\],/.test(JSON.stringify(target)) &&
        JSON.stringify(target).endsWith('"types":["opened","synchronize","reopened","closed"]}'))
    const isNarrow =
      (review === undefined || JSON.stringify(review) === '{"types":["submitted","dismissed"]}') &&
      (comment === undefined || JSON.stringify(comment) === '{"types":["created"]}')
    return [...(isFiltered ? [] : ['pull_request_target']), ...(isNarrow ? [] : ['types'])]
  },

  'reviews on forks and comments that are no commands start nothing': ({ workflow }) =>
    nameJobs(listJobs(workflow), job => {
      const condition = (job.if ?? '').replaceAll(/\s+/g, ' ')
      const review =
        !('pull_request_review' in workflow.on) ||
        /\(github\.event_name != 'pull_request_review' \|\| github\.event\.pull_request\.head\.repo\.full_name == github\.repository && \((?:startsWith\(github\.event\.pull_request\.base\.ref, '[a-z-]+\/'\)(?: \|\| )?)+\)\)/.test(
          condition,
        )
      const comment =
        !('issue_comment' in workflow.on) ||
        condition.includes(
          "(github.event_name != 'issue_comment' || github.event.issue.pull_request && startsWith(github.event.comment.body, '/winnow'))",
        )
      return !('needs' in job) && !(review && comment)
    }),

  'no job waits for workflow_run, and pull_request never meets a token that writes': ({ workflow }) => [
    ...('workflow_run' in workflow.on ? ['workflow_run'] : []),
    ...('pull_request' in workflow.on
      ? nameJobs(listJobs(workflow), job => !readsOnly(job) && JSON.stringify(job.permissions) !== '{}')
      : []),
  ],

  'a pause is seen before anything starts': ({ workflow }) =>
    nameJobs(
      listJobs(workflow),
      job =>
        !/^(?:always\(\) && )?\(vars\.WINNOW_PAUSED == '' \|\| vars\.WINNOW_PAUSED == 'false'\) && /.test(
          job.if ?? '',
        ),
    ),

  'a condition is one expression': ({ workflow }) =>
    nameJobs(listJobs(workflow), job =>
      [job.if, ...job.steps.map(step => step['if'])].some(
        condition => typeof condition === 'string' && /\$\{\{|\n/.test(condition.trim()),
      ),
    ),

  'experiments are measured in dispatched runs on another branch than the default one': ({ workflow }) =>
    nameJobs(findJobs(workflow, /^measure$/), job => {
      const condition = ` ${(job.if ?? '').replaceAll(/\s+/g, ' ')} `
      return ![
        " needs.tick.outputs.orders != '' && ",
        " && github.event_name == 'workflow_dispatch' && ",
        ' && github.ref_name != github.event.repository.default_branch ',
      ].every(part => condition.includes(part))
    }),

  'settle follows all other jobs, however they ended, where one was due': ({ workflow }) =>
    nameJobs(findJobs(workflow, /^settle$/), (job, name) => {
      const others = listJobs(workflow).flatMap(([other, { permissions }]) =>
        other === name || JSON.stringify(permissions)?.includes('id-token') ? [] : [other],
      )
      const due = findJobs(workflow, ASKS).map(([other]) => other)
      const wanted = ['orders', ...due].map(output => `needs.tick.outputs.${output} != ''`)
      return !(
        others.every(other => [job['needs']].flat().includes(other)) &&
        (job.if ?? '').startsWith('always() && ') &&
        (job.if ?? '').includes(" && needs.tick.result != 'skipped' && ") &&
        wanted.every(part => (job.if ?? '').includes(part))
      )
    }),

  'writers wait in one line with a literal name, all others in none': ({ workflow }) => [
    ...(workflow.concurrency === undefined ? [] : ['the whole workflow']),
    ...nameJobs(listJobs(workflow), job => {
      const line = { group: 'winnow', 'cancel-in-progress': false }
      const commands = listCommands(job)
      const decides = commands.some(command => /^(?:tick|settle)$/.test(command))
      const wanted = decides ? { ...line, queue: 'max' } : commands.includes('run') ? line : undefined
      return JSON.stringify(job.concurrency) !== JSON.stringify(wanted)
    }),
  ],

  'every job has an end': ({ workflow }) =>
    nameJobs(
      listJobs(workflow),
      job => !((job['timeout-minutes'] ?? 0) > 0 && (job['timeout-minutes'] ?? 0) < 360),
    ),
}

const CODE_OF_OTHERS: Readonly<Record<string, Rule>> = {
  'code of others starts without root, or beside users made for it': ({ workflow }) =>
    nameJobs(findJobs(workflow, RUNS_OTHERS), job => {
      const before = job.steps[findHandOver(job) - 1]
      if (before === undefined) return true
      return listCommands(job).includes('propose') ? !isGivingUpRoot(before) : !isMakingUsers(before)
    }),

  'no action with a post step is beside code of others': ({ workflow }) =>
    nameJobs(findJobs(workflow, RUNS_OTHERS), job =>
      job.steps.some(
        step =>
          step.uses !== undefined &&
          readCommand(step) === '' &&
          !OF_THE_CLONE.test(step.uses) &&
          !usesAction(step, 'actions/upload-artifact'),
      ),
    ),

  'after code of others only its files are uploaded': ({ workflow }) =>
    nameJobs(findJobs(workflow, RUNS_OTHERS), job => {
      const after = job.steps.slice(findHandOver(job) + 1)
      return (
        after.some(step => !usesAction(step, 'actions/upload-artifact')) ||
        after.length > (isMeasuring(job) ? 2 : 1)
      )
    }),

  'each measuring job tells in its slot how it ended and what it uploaded': ({ workflow }) =>
    nameJobs(findJobs(workflow, /^measure$/), job => {
      const digest = 'steps.hand.outputs.artifact-digest || steps.rescue.outputs.artifact-digest'
      const wanted = Array.from({ length: 20 }, (_, slot) => [
        `slot-${slot}`,
        `\${{ matrix.slot == ${slot} && format('{0} {1}', job.status, ${digest}) || '' }}`,
      ])
      const uploads = job.steps
        .filter(step => usesAction(step, 'actions/upload-artifact'))
        .map(step => [step['id'], step.with?.['name'], step['if']])
      const expected = [
        ['hand', 'report-$' + '{{ matrix.order }}', "steps.measure.outputs.report != ''"],
        ['rescue', 'partial-$' + '{{ matrix.order }}', "always() && steps.measure.outputs.partial != ''"],
      ]
      return (
        JSON.stringify(job['outputs']) !== JSON.stringify(Object.fromEntries(wanted)) ||
        JSON.stringify(uploads) !== JSON.stringify(expected)
      )
    }),

  'a job that asks tells the digest of what it uploaded': ({ workflow }) =>
    nameJobs(findJobs(workflow, ASKS), job => {
      const hand = job.steps.find(step => step['id'] === 'hand')
      const digest = '$' + '{{ steps.hand.outputs.artifact-digest }}'
      const isUpload = hand !== undefined && usesAction(hand, 'actions/upload-artifact')
      return !isUpload || JSON.stringify(job['outputs']) !== JSON.stringify({ digest })
    }),
}

const ITEMS = { artifact: 'winnow-items', file: 'items.json' } as const

const FILES: Readonly<Record<string, Rule>> = {
  'only items of the tick before are downloaded, outside the clone': ({ workflow }) =>
    listJobs(workflow).flatMap(([name, job]) => {
      const fetched = job.steps.filter(step => usesAction(step, 'actions/download-artifact'))
      const place = '$' + `{{ runner.temp }}/${ITEMS.artifact}`
      const wanted = JSON.stringify({ name: ITEMS.artifact, path: place })
      const reads = job.steps.flatMap(step => step.with?.['items'] ?? [])
      const isAfterTick = [job['needs']].flat().includes('tick')
      const isRight =
        fetched.every(step => JSON.stringify(step.with) === wanted) &&
        reads.every(path => path === `${place}/${ITEMS.file}`) &&
        reads.length === fetched.length &&
        (reads.length === 0 || isAfterTick)
      return isRight ? [] : [name]
    }),

  'models are asked also where there is nothing to ask about: otherwise it counts as having spent': ({
    workflow,
  }) =>
    nameJobs(findJobs(workflow, /^judge$/), job => {
      const fetches = job.steps.filter(step => usesAction(step, 'actions/download-artifact'))
      const asks = job.steps.find(step => readCommand(step) === 'judge')
      const goesOn = fetches.every(step => step['continue-on-error'] === true && step['if'] === undefined)
      return !goesOn || asks?.['if'] !== undefined
    }),

  'an upload is one file that a step named': ({ workflow }) =>
    listSteps(workflow).flatMap(({ name, step }) => {
      if (!usesAction(step, 'actions/upload-artifact')) return []
      const { path, overwrite } = step.with ?? {}
      const one = /^\$\{\{ steps\.[a-z]+\.outputs\.(?:report|partial|items) \}\}$/.test(String(path))
      return one && overwrite === undefined && step.with?.['if-no-files-found'] === 'error' ? [] : [name]
    }),

  'a job that decides hands over what it could not push, however its step ended': ({ workflow }) =>
    nameJobs(findJobs(workflow, /^(?:tick|settle|run)$/), job => {
      const at = job.steps.findIndex(step => WRITES.test(readCommand(step)))
      const id = String(job.steps[at]?.['id'])
      const [next, ...more] = job.steps.slice(at + 1)
      const isKept =
        next?.['if'] === `always() && steps.${id}.outputs.report != ''` &&
        next.with?.['path'] === `\${{ steps.${id}.outputs.report }}` &&
        next.with['name'] === `\${{ steps.${id}.outputs.artifact }}`
      const handsOn = more.every(step => step.with?.['path'] === `\${{ steps.${id}.outputs.items }}`)
      return !isKept || !handsOn || more.length > 1
    }),
}

const WORKFLOW_RULES: Readonly<Record<string, Rule>> = {
  ...RIGHTS_AND_SECRETS,
  ...SOURCES,
  ...TRIGGERS,
  ...CODE_OF_OTHERS,
  ...FILES,
}

export const RULES = Object.keys(WORKFLOW_RULES)
const OF_WINNOW = new Set([
  'writing is for jobs that decide',
  "signing as the workflow is for a job with GitHub's action alone",
])
/** Rules that hold for any workflow, not only for those that run winnow. */
export const GENERAL_RULES = [
  ...Object.keys(RIGHTS_AND_SECRETS).filter(rule => !OF_WINNOW.has(rule)),
  ...Object.keys(SOURCES),
  'a condition is one expression',
  'every job has an end',
]

export function checkWorkflow(text: string, only: readonly string[] = RULES): Finding[] {
  const workflow = parsedWorkflow(text)
  return only.flatMap(rule =>
    (WORKFLOW_RULES[rule]?.({ workflow, text }) ?? []).map(where => ({ rule, where })),
  )
}

/** Applies the rules for steps to those of a composite action. */
export function checkAction(text: string): Finding[] {
  const steps = JSON.stringify(stepsOfAction(text))
  const job = `{"permissions":{},"timeout-minutes":1,"steps":${steps}}`
  const workflow = `{"on":{"workflow_dispatch":{}},"permissions":{},"jobs":{"action":${job}}}`
  return checkWorkflow(workflow, GENERAL_RULES)
}
