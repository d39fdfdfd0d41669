import { UserError } from '../../errors.ts'
import { MODEL_KEY } from '../../measure/environment.ts'
import type { Spec } from '../../spec/schema.ts'
import { isJudgedMetric, listCountedMetrics } from '../../spec/spec-facts.ts'

export interface GithubSetup {
  /** `owner/repository@commit`, with its version as a comment if it is known; or OWN_ACTION. */
  action: string
  specs: readonly WorkflowCampaign[]
  /** A last job has GitHub attest which events of the ledger the run wrote. */
  attest?: boolean
}

export type WorkflowCampaign = Pick<
  Spec,
  'name' | 'schedule' | 'propose' | 'execution' | 'branches' | 'measurement' | 'metric' | 'policy'
>

/**
 * Every job checks this variable, itself or through the job that it needs. It stops winnow without a commit.
 */
export const NOT_PAUSED = "(vars.WINNOW_PAUSED == '' || vars.WINNOW_PAUSED == 'false')"

export function quoteYaml(value: string): string {
  return `'${value.replaceAll("'", "''")}'`
}

export function hasProgramProposers({ specs }: Pick<GithubSetup, 'specs'>): boolean {
  return specs.some(({ propose }) => propose.some(({ use }) => use === 'command' || use === 'textgrad'))
}

export function hasJudges({ specs }: Pick<GithubSetup, 'specs'>): boolean {
  return specs.some(isJudgedMetric)
}

/** Whether a campaign compares instructions or allocations, which a tool counts. */
export function hasCountedMetrics(specs: GithubSetup['specs']): boolean {
  return specs.some(spec => listCountedMetrics(spec).length > 0)
}

/** Prefixes of the branches that campaigns write to. */
export function listPrefixes({ specs }: Pick<GithubSetup, 'specs'>): string[] {
  return [...new Set(specs.map(({ branches }) => branches.prefix))].toSorted()
}

/**
 * Refuses expressions. The workflow contains these values verbatim, and an expression could name a secret.
 */
export function requirePlainExecution({ name, execution }: WorkflowCampaign): WorkflowCampaign['execution'] {
  const { runs_on, services } = execution
  for (const [key, value] of Object.entries({ runs_on, services })) {
    if (!JSON.stringify(value).includes('${{')) continue
    throw new UserError(`execution.${key} of ${name} holds an expression of GitHub`, {
      place: { path: `execution.${key}` },
      fix: 'write plain values: a job that runs experiments must not get values that only the workflow knows',
    })
  }
  return execution
}

// Rights of jobs

/** Rights of a job's token with their reasons, and the secrets of the job. */
interface JobRights {
  runs: string
  permissions: Readonly<Record<string, readonly [level: 'read' | 'write', reason: string]>>
  secrets: readonly string[]
}

/** Only jobs that ask proposers or models get this secret. It has the same name in their environment. */
export const MODEL_SECRET = MODEL_KEY
/** The environment that holds the secret, so that a branch rule can protect it. */
export const MODEL_ENVIRONMENT = 'winnow-models'

const WRITE_OUTCOMES = {
  checks: ['write', 'to show a verdict at the head of a pull request'],
  contents: ['write', "to move winnow's own branches"],
  issues: ['write', 'to react to comments that steer'],
  'pull-requests': ['write', 'to open, describe, comment and close pull requests'],
} as const
const DECIDE = {
  actions: ['write', 'to start, cancel and look at runs, and to fetch their artifacts'],
  ...WRITE_OUTCOMES,
} as const
const CLONE = { contents: ['read', 'to clone the repository'] } as const

/** The only table of rights, by job. The workflow and the documentation are generated from it. */
export const RIGHTS = {
  tick: { runs: 'winnow alone', permissions: DECIDE, secrets: [] },
  propose: {
    runs: 'programs that the spec names, on the best code so far',
    permissions: CLONE,
    secrets: [MODEL_SECRET],
  },
  measure: { runs: 'the code of an experiment', permissions: CLONE, secrets: [] },
  judge: {
    runs: 'winnow alone, and asks models about what experiments printed',
    permissions: CLONE,
    secrets: [MODEL_SECRET],
  },
  settle: { runs: 'winnow alone', permissions: DECIDE, secrets: [] },
  attest: {
    runs: "with `--attest`: GitHub's own action, and nothing of this repository",
    permissions: {
      attestations: ['write', 'to store what it signed'],
      'id-token': ['write', 'to sign as this workflow'],
    },
    secrets: [],
  },
  run: {
    runs: 'with `--single-job`, instead of all others: winnow, and the code of experiments as users of its own',
    permissions: WRITE_OUTCOMES,
    secrets: [MODEL_SECRET],
  },
} as const satisfies Record<string, JobRights>
type Rights = keyof typeof RIGHTS

export function renderPermissions(job: Rights): string {
  const { permissions }: JobRights = RIGHTS[job]
  const lines = Object.entries(permissions).map(([name, [level, why]]) => `      ${name}: ${level} # ${why}`)
  return lines.length === 0 ? '    permissions: {}' : ['    permissions:', ...lines].join('\n')
}

export function renderPermissionTable(): string {
  const rows = Object.entries<JobRights>(RIGHTS).map(([job, { runs, permissions, secrets }]) => {
    const granted = Object.entries(permissions).map(([name, [level, why]]) => `\`${name}: ${level}\` ${why}`)
    const secretNames = secrets.map(name => `\`${name}\``)
    return `| ${job} | ${runs} | ${granted.join('<br>')} | ${secretNames.join(', ') || 'none'} |`
  })
  return ['| job | runs | its token may | secrets |', '|---|---|---|---|', ...rows].join('\n')
}
