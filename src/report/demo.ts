import type { Campaign } from '../model/campaign.ts'
import type { Experiment } from '../model/experiment.ts'
import { quoteShell } from '../model/text.ts'
import { listAwaitingApproval } from './approval.ts'
import { formatTable } from './terminal.ts'

export interface DemoPlace {
  directory: string
  /** `winnow`, or the command that the user typed instead. */
  called: string
  /** Everything that the demo left on this machine. */
  leftovers: readonly string[]
}

export function renderDemoIntro({ directory }: Pick<DemoPlace, 'directory'>): string[] {
  return [
    'The demo improves a small program that packs messages into bytes. Ten ideas try to use fewer bytes; every message must unpack correctly.',
    `  ${directory}`,
    '  .winnow/squeeze.yaml is the spec, ideas/ holds the ideas; no network or model is needed.',
    '',
  ]
}

export function renderDemoNextSteps(
  campaign: Campaign,
  { directory, called, leftovers }: DemoPlace,
): string[] {
  const next = listDemoCommands(campaign).map(([words, why]) => [`  ${called} ${words}`, `# ${why}`])
  return [
    'Next:',
    `  cd ${quoteShell(directory)}`,
    ...formatTable(next),
    'To remove all of it:',
    `  rm -rf ${leftovers.map(quoteShell).join(' ')}`,
  ]
}

function listDemoCommands(campaign: Campaign): [words: string, why: string][] {
  const runnerUp = findByOutcome(campaign, 'runner_up_dropped')
  const [deferred] = listAwaitingApproval(campaign)
  const commands: [string, string][] = [['audit', 'prove from git that every kept change was measured']]
  if (runnerUp)
    commands.unshift([`show ${runnerUp.id}`, 'promising alone, but harmful on top of the kept changes'])
  if (deferred) {
    commands.push(
      ['approve', `what ${deferred.id} would add`],
      [`approve ${deferred.id}`, 'approve it'],
      ['run', 'measure it'],
    )
  }
  return commands
}

function findByOutcome({ experiments }: Campaign, outcome: Experiment['outcome']): Experiment | undefined {
  return Object.values(experiments).find(each => each.outcome === outcome)
}
