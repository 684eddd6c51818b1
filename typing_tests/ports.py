"""Each adapter fits its port. Checked by mypy, never run."""

from chopin_core.engines.pycrdt import PycrdtEngine
from chopin_core.engines.ypy import YpyEngine
from chopin_core.memory.agents import MemoryAgentStore
from chopin_core.memory.channels import MemoryChannelStore
from chopin_core.memory.collaboration import MemoryCollaborationStore
from chopin_core.memory.images import MemoryImageStore
from chopin_core.memory.jobs import MemoryJobStore
from chopin_core.memory.leases import MemoryLeaseStore
from chopin_core.memory.machines import MemoryMachineStore
from chopin_core.memory.navigation import MemoryNavigationStore
from chopin_core.memory.research import MemoryResearchStore
from chopin_core.memory.storage import MemoryStorage
from chopin_core.memory.users import MemoryUserStore
from chopin_core.memory.web_sessions import MemoryWebSessionStore
from chopin_core.ports.agents import AgentStore
from chopin_core.ports.authority import Authority
from chopin_core.ports.channels import ChannelStore
from chopin_core.ports.collaboration import CollaborationStore
from chopin_core.ports.documents import DocumentEngine, PositionEngine
from chopin_core.ports.images import ImageStore
from chopin_core.ports.jobs import JobStore
from chopin_core.ports.leases import LeaseStore
from chopin_core.ports.machines import MachineStore
from chopin_core.ports.navigation import NavigationStore
from chopin_core.ports.research import ResearchStore
from chopin_core.ports.storage import Storage
from chopin_core.ports.users import UserStore
from chopin_core.ports.web_sessions import WebSessionStore
from chopin_storage_pg.agents import PgAgentStore
from chopin_storage_pg.channels import PgChannelStore
from chopin_storage_pg.collaboration import PgCollaborationStore
from chopin_storage_pg.images import PgImageStore
from chopin_storage_pg.jobs import PgJobStore
from chopin_storage_pg.leases import PgLeaseStore
from chopin_storage_pg.machines import PgMachineStore
from chopin_storage_pg.navigation import PgNavigationStore
from chopin_storage_pg.research import PgResearchStore
from chopin_storage_pg.storage import PgStorage
from chopin_storage_pg.users import PgUserStore
from chopin_storage_pg.web_sessions import PgWebSessionStore
from chopin_web.local.authority import LocalAuthority

memory: type[Storage] = MemoryStorage
memory_users: type[UserStore] = MemoryUserStore
memory_channels: type[ChannelStore] = MemoryChannelStore
memory_collaboration: type[CollaborationStore] = MemoryCollaborationStore
memory_leases: type[LeaseStore] = MemoryLeaseStore
memory_sessions: type[WebSessionStore] = MemoryWebSessionStore
memory_agents: type[AgentStore] = MemoryAgentStore
memory_navigation: type[NavigationStore] = MemoryNavigationStore
memory_images: type[ImageStore] = MemoryImageStore
memory_machines: type[MachineStore] = MemoryMachineStore
memory_jobs: type[JobStore] = MemoryJobStore
memory_research: type[ResearchStore] = MemoryResearchStore

postgres: type[Storage] = PgStorage
postgres_users: type[UserStore] = PgUserStore
postgres_channels: type[ChannelStore] = PgChannelStore
postgres_collaboration: type[CollaborationStore] = PgCollaborationStore
postgres_leases: type[LeaseStore] = PgLeaseStore
postgres_sessions: type[WebSessionStore] = PgWebSessionStore
postgres_agents: type[AgentStore] = PgAgentStore
postgres_navigation: type[NavigationStore] = PgNavigationStore
postgres_images: type[ImageStore] = PgImageStore
postgres_machines: type[MachineStore] = PgMachineStore
postgres_jobs: type[JobStore] = PgJobStore
postgres_research: type[ResearchStore] = PgResearchStore

pycrdt: type[DocumentEngine] = PycrdtEngine
pycrdt_positions: type[PositionEngine] = PycrdtEngine
ypy: type[DocumentEngine] = YpyEngine

local: type[Authority] = LocalAuthority
