import { per, type Results, type Size, tallyOf } from './case.ts'
import { campaignName } from './campaigns.ts'
import type { Rule } from './rule.ts'
import { ALL_RULES } from './rules.ts'
import type { ScenarioName } from './scenarios.ts'
import { caseName, type Effect } from './single.ts'

/** Rules that people use, and winnow's. */
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

/** The whole of docs/comparison.md, all of its numbers from one run of this command. */
export function renderComparisonPage(results: Results, { seed, size }: { seed: string; size: Size }): string {
  const rows = SHOWN.map(name => renderComparisonRow(results, name))
  return `# How often does a rule decide wrongly?

${renderAnswer(results)}

These numbers are simulated with winnow's own noise model. Runs of the same code differ by 8 % from job to job, and by 3 % when
they run side by side. The smallest gain worth having is 2 %. [How winnow decides](deciding.md) explains winnow's rule.

- **kept** is the share of changes with that true effect which the rule keeps.
- **executions** and **jobs** are means: for a change that does nothing / for a change that gains 5 %.

| rule | source | does nothing: kept | +1 %: kept | +2 %: kept | +5 %: kept | executions | jobs |
|---|---|---|---|---|---|---|---|
${rows.join('\n')}

## Where another rule is better

${renderBetterElsewhere(results).join('\n')}

## Print it yourself

\`npm run --silent bench:decide -- --comparison${sizeFlag(size)}\` prints this page (seed ${seed}). Without \`--comparison\`
the command prints every table of the simulation, in more scenarios. \`--seed 2\` draws other random numbers.`
}

function renderAnswer(results: Results): string {
  const [ours, usual] = [ruleNamed('winnow'), ruleNamed('one run, strictly better')]
  const kept = (rule: Rule, effect: Effect) => keptPercent(results, 'typical', rule, effect)
  return `On a typical hosted runner, winnow keeps ${kept(ours, 'null')} % of changes that do nothing, and ${kept(ours, '+5 %')} % of changes that gain 5 %.
A loop that runs each change once and keeps what scored better keeps ${kept(usual, 'null')} % and ${kept(usual, '+5 %')} %.`
}

function sizeFlag(size: Size): string {
  return size === 'usual' ? '' : ` --${size}`
}

function ruleNamed(name: string): Rule {
  const rule = ALL_RULES.find(each => each.name === name)
  if (rule === undefined) throw new Error(`no rule is called ${name}`)
  return rule
}

export function renderComparisonRow(results: Results, name: string): string {
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

function renderBetterElsewhere(results: Results): string[] {
  return [renderQuietMachine(results), renderCarelessCampaign(results), renderSmallGains(results)]
}

function executions(results: Results, scenario: ScenarioName, rule: Rule, effect: Effect): string {
  return per(tallyOf(results, caseName(scenario, rule, effect)), 'executions').toFixed(0)
}

function renderQuietMachine(results: Results): string {
  const [median, ours] = [ruleNamed('median of 5 better by 2 %'), ruleNamed('winnow')]
  const kept = (rule: Rule, effect: Effect) => keptPercent(results, 'dedicated', rule, effect)
  const used = (rule: Rule) => executions(results, 'dedicated', rule, '+5 %')
  return `- **A quiet machine of your own** (1 % noise). The median of five keeps ${kept(median, 'null')} % of changes that do nothing and ${kept(median, '+5 %')} % of
  gains of 5 %. It takes ${used(median)} executions for such a gain, winnow ${used(ours)}.`
}

function renderCarelessCampaign(results: Results): string {
  const tally = (name: string) => tallyOf(results, campaignName('typical', name))
  const [careless, ours] = [tally('same runner, one run, base first'), tally('winnow (e-LOND, q .1)')]
  const gain = (of: typeof ours) => (100 * per(of, 'gain', 'possible')).toFixed(0)
  const mean = (of: typeof ours, key: string) => per(of, key).toFixed(0)
  return `- **Worthless merges that cost nothing.** One run each of base and candidate on the same runner gets ${gain(careless)} % of the
  possible gain of 100 proposals with ${mean(careless, 'executions')} executions. winnow gets ${gain(ours)} % with ${mean(ours, 'executions')}. The cheap rule merges ${mean(careless, 'false')} changes that
  gain nothing, ${mean(careless, 'harmful')} of them harmful, and claims ${per(careless, 'claimed', 'gain').toFixed(1)} times the real gain.`
}

function renderSmallGains(results: Results): string {
  const [sprt, ours] = [ruleNamed('GSPRT, alpha = beta = .05'), ruleNamed('winnow')]
  const kept = (rule: Rule, effect: Effect) => keptPercent(results, 'typical', rule, effect)
  const used = (rule: Rule) => executions(results, 'typical', rule, '+2 %')
  return `- **Gains just at the smallest one worth having.** The test of fishtest (GSPRT) keeps ${kept(sprt, '+2 %')} % of them with ${used(sprt)} executions,
  winnow ${kept(ours, '+2 %')} % with ${used(ours)}. It also keeps ${kept(sprt, 'null')} % of changes that do nothing, winnow ${kept(ours, 'null')} %.`
}
