import type { Campaign } from '../campaign.ts'
import type { EventKind, LedgerEvent } from '../event.ts'

export type EventHandler<K extends EventKind> = (campaign: Campaign, event: LedgerEvent<K>) => void
