import { stringify } from 'yaml'
import { UserError } from '../errors.ts'
import type { Option } from './verb.ts'

/** What a person may say of an idea besides its sentence; the same words wherever one is offered. */
export interface IdeaDetails {
  hypothesis: string
  category?: string | undefined
  priority?: string | undefined
  required_deps?: readonly string[] | undefined
  family?: string | undefined
  /** Of the backlog: the idea that this carries out. */
  idea?: string | undefined
}

export const CATEGORY: Option = { name: 'category', value: 'word', summary: 'what kind of idea it is' }
export const FAMILY: Option = {
  name: 'family',
  value: 'word',
  summary: 'ideas of one family are variants of each other',
}

/** The text of a pull request: the fenced block is what becomes of it in the ledger; around it there is room for people. */
export function renderIdeaBody({ required_deps, ...told }: IdeaDetails): string {
  const needs = required_deps === undefined || required_deps.length === 0 ? {} : { required_deps }
  return `${told.hypothesis}\n\n\`\`\`winnow\n${stringify({ ...told, ...needs }, { lineWidth: 0 })}\`\`\`\n`
}

export function parsePriority(given: string | undefined): 'high' | 'medium' | 'low' | undefined {
  if (given === undefined || given === 'high' || given === 'medium' || given === 'low') return given
  throw new UserError(`--priority ${given} is not one`, { fix: 'give high, medium or low' })
}
