import { per, type Results, type Size, tallyOf } from './case.ts'
import { campaignName } from './campaigns.ts'
import type { Rule } from './rule.ts'
import { ALL_RULES } from './rules.ts'
import type { ScenarioName } from './scenarios.ts'
import { caseName, type Effect } from './single.ts'

/** Rows of the README: what people use, and winnow. */
const SHOWN = [
  'one run, strictly better',
  'one run, three attempts',
  'mean of 3, rolled back if worse',
  'median of 5 better by 2 %',
  'ladder, all paired differences over 5 %',
  'one run, better by 2 MAD',
  'mean with Bayesian early stop',
  'same runner, one run, base first',
  '10 pairs in fixed order, z >= 2.6 and > 1 %',
  'GSPRT, alpha = beta = .05',
  'winnow',
  'winnow, first keep of 100 (alpha .001)',
]

/** What the README says about deciding, all of its numbers from one run of this command. */
export function readmeTable(results: Results, { seed, size }: { seed: string; size: Size }): string {
  const rows = SHOWN.map(name => readmeRow(results, name))
  return `### How often a rule is wrong (simulated, our noise model)

A typical hosted runner: runs of the same code differ by 8 % from job to job, two runs side by side by 3 %.
Smallest gain worth having: 2 %. Executions and jobs are means for a change that does nothing / that gains 5 %.

| rule | source | does nothing: kept | +1 %: kept | +2 %: kept | +5 %: kept | executions | jobs |
|---|---|---|---|---|---|---|---|
${rows.join('\n')}

Where another rule is the better one:

${betterElsewhere(results).join('\n')}

\`npm run bench:decide -- --readme${sizeFlag(size)}\` prints this (seed ${seed}); without \`--readme\` it prints every table.`
}

function sizeFlag(size: Size): string {
  return size === 'usual' ? '' : ` --${size}`
}

function ruleNamed(name: string): Rule {
  const rule = ALL_RULES.find(each => each.name === name)
  if (rule === undefined) throw new Error(`no rule is called ${name}`)
  return rule
}

export function readmeRow(results: Results, name: string): string {
  const [scenario, rule] = ['typical' as const, ruleNamed(name)]
  const effects = ['null', '+1 %', '+2 %', '+5 %'] as const
  const shares = effects.map(effect => `${keptPercent(results, scenario, rule, effect)} %`)
  const cost = (key: 'executions' | 'jobs', digits: number) =>
    (['null', '+5 %'] as const)
      .map(effect => per(tallyOf(results, caseName(scenario, rule, effect)), key).toFixed(digits))
      .join(' / ')
  return `| ${[rule.name, rule.source, ...shares, cost('executions', 0), cost('jobs', 1)].join(' | ')} |`
}

function keptPercent(results: Results, scenario: ScenarioName, rule: Rule, effect: Effect): string {
  return (100 * per(tallyOf(results, caseName(scenario, rule, effect)), 'kept')).toFixed(1)
}

function betterElsewhere(results: Results): string[] {
  return [quietBox(results), carelessCampaign(results), smallGains(results)]
}

function executions(results: Results, scenario: ScenarioName, rule: Rule, effect: Effect): string {
  return per(tallyOf(results, caseName(scenario, rule, effect)), 'executions').toFixed(0)
}

function quietBox(results: Results): string {
  const [median, ours] = [ruleNamed('median of 5 better by 2 %'), ruleNamed('winnow')]
  const kept = (rule: Rule, effect: Effect) => keptPercent(results, 'dedicated', rule, effect)
  const used = (rule: Rule) => executions(results, 'dedicated', rule, '+5 %')
  return `- A quiet machine of one's own (1 % noise): the median of five keeps ${kept(median, 'null')} % of changes that do
  nothing and ${kept(median, '+5 %')} % of gains of 5 %, with ${used(median)} executions where winnow takes ${used(ours)}. It is cheaper and fine there.`
}

function carelessCampaign(results: Results): string {
  const tally = (name: string) => tallyOf(results, campaignName('typical', name))
  const [careless, ours] = [tally('same runner, one run, base first'), tally('winnow (e-LOND, q .1)')]
  const gain = (of: typeof ours) => (100 * per(of, 'gain', 'possible')).toFixed(0)
  const mean = (of: typeof ours, key: string) => per(of, key).toFixed(0)
  return `- If worthless merges cost nothing: one run each of base and candidate on the same runner gets ${gain(careless)} % of
  all there is to gain from 100 proposals with ${mean(careless, 'executions')} executions; winnow gets ${gain(ours)} % with ${mean(ours, 'executions')}. The former
  merges ${mean(careless, 'false')} changes that gain nothing, ${mean(careless, 'harmful')} of them harmful, and claims ${per(careless, 'claimed', 'gain').toFixed(1)} times the real gain.`
}

function smallGains(results: Results): string {
  const [sprt, ours] = [ruleNamed('GSPRT, alpha = beta = .05'), ruleNamed('winnow')]
  const kept = (rule: Rule, effect: Effect) => keptPercent(results, 'typical', rule, effect)
  const used = (rule: Rule) => executions(results, 'typical', rule, '+2 %')
  return `- Gains just at the smallest one worth having: fishtest's test keeps ${kept(sprt, '+2 %')} % of them with ${used(sprt)} executions, winnow
  ${kept(ours, '+2 %')} % with ${used(ours)}; it keeps ${kept(sprt, 'null')} % of changes that do nothing, winnow ${kept(ours, 'null')} %.`
}
