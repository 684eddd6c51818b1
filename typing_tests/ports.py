"""Each adapter fits its port. Checked by mypy, never run."""

from chopin_core.engines.pycrdt import PycrdtEngine
from chopin_core.engines.ypy import YpyEngine
from chopin_core.memory.channels import MemoryChannelStore
from chopin_core.memory.collaboration import MemoryCollaborationStore
from chopin_core.memory.leases import MemoryLeaseStore
from chopin_core.memory.storage import MemoryStorage
from chopin_core.memory.users import MemoryUserStore
from chopin_core.ports.authority import Authority
from chopin_core.ports.channels import ChannelStore
from chopin_core.ports.collaboration import CollaborationStore
from chopin_core.ports.documents import DocumentEngine, PositionEngine
from chopin_core.ports.leases import LeaseStore
from chopin_core.ports.storage import Storage
from chopin_core.ports.users import UserStore
from chopin_storage_pg.channels import PgChannelStore
from chopin_storage_pg.collaboration import PgCollaborationStore
from chopin_storage_pg.leases import PgLeaseStore
from chopin_storage_pg.storage import PgStorage
from chopin_storage_pg.users import PgUserStore
from chopin_web.local.authority import LocalAuthority

memory: type[Storage] = MemoryStorage
memory_users: type[UserStore] = MemoryUserStore
memory_channels: type[ChannelStore] = MemoryChannelStore
memory_collaboration: type[CollaborationStore] = MemoryCollaborationStore
memory_leases: type[LeaseStore] = MemoryLeaseStore

postgres: type[Storage] = PgStorage
postgres_users: type[UserStore] = PgUserStore
postgres_channels: type[ChannelStore] = PgChannelStore
postgres_collaboration: type[CollaborationStore] = PgCollaborationStore
postgres_leases: type[LeaseStore] = PgLeaseStore

pycrdt: type[DocumentEngine] = PycrdtEngine
pycrdt_positions: type[PositionEngine] = PycrdtEngine
ypy: type[DocumentEngine] = YpyEngine

local: type[Authority] = LocalAuthority
