"""Which module of the plan a file belongs to."""

from collections.abc import Iterable
from functools import cached_property

from packets.plan import Plan
from packets.scope import Scope


class Territory:
    """Scopes of the plan's modules and of the modules it only refers to."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.planned = {module.id: Scope.parse(module.write_scope) for module in plan.modules()}
        self.mapped = {name: Scope.parse(entries) for name, entries in plan.modules_map.items()}
        self._owners: dict[str, tuple[str, ...]] = {}

    @cached_property
    def scopes(self) -> dict[str, Scope]:
        """Every module's scope: the plan's in plan order, then the map's."""
        return {**self.mapped, **self.planned}

    @cached_property
    def _starts(self) -> dict[str, tuple[str, ...]]:
        """How every path of a module's scope begins: most paths of a repository are ruled out by that alone."""
        return {name: tuple(entry.start for entry in scope.patterns) for name, scope in self.scopes.items()}

    def owners(self, path: str) -> tuple[str, ...]:
        """Return the modules a file belongs to; none: it is free to use."""
        if path not in self._owners:
            near = (name for name, starts in self._starts.items() if path.startswith(starts))
            self._owners[path] = tuple(name for name in near if self.scopes[name].matches(path))
        return self._owners[path]

    def declared(self, module_id: str) -> tuple[str, ...]:
        """Return the modules that the plan lets this one depend on."""
        return self.plan.module(module_id).depends_on

    def before(self, module_id: str) -> tuple[str, ...]:
        """Return the modules of the plan that are done before this one, at any distance, in plan order."""
        reached: set[str] = set()
        todo = [module_id]
        while todo:
            for name in self.plan.module(todo.pop()).depends_on:
                if name in self.planned and name not in reached:
                    reached.add(name)
                    todo.append(name)
        return tuple(name for name in self.planned if name in reached)

    def files(self, module_id: str, paths: Iterable[str]) -> tuple[str, ...]:
        """Return the module's files among the paths."""
        scope, starts = self.scopes[module_id], self._starts[module_id]
        return tuple(path for path in paths if path.startswith(starts) and scope.matches(path))
