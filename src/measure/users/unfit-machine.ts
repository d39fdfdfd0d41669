import { UserError } from '../../errors.ts'

/** The machine gives a side more or less than it may have, and says so before anything runs. */
export class UnfitMachine extends UserError {
  override readonly fix: string
  constructor(what: string, fix: string) {
    super(what, { place: { path: 'measurement.isolation' } })
    this.fix = fix
  }
}
