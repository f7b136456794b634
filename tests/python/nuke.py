"""A stand-in for Nuke's module `nuke`: a Write node with its knobs, and the hooks of its frames."""
REPLACE = 1
hooks, frame = [], 1001


class Knob:
    def __init__(self, name, label="", values=("",)):
        self._name, self._value = name, values[0]

    def value(self):
        return self._value

    def setValue(self, value):
        self._value = value


Tab_Knob = File_Knob = Double_Knob = Enumeration_Knob = Knob


class Node:
    def __init__(self):
        self.knobs = {}

    def addKnob(self, knob):
        self.knobs[knob._name] = knob

    def knob(self, name):
        return self.knobs.get(name)

    def __getitem__(self, name):
        return self.knobs[name]


node = Node()


def selectedNode():
    return node


def thisNode():
    return node


def filename(of, how):
    assert of is node and how == REPLACE
    return "plate.%d.exr" % frame


def addAfterFrameRender(call, nodeClass):
    assert nodeClass == "Write"
    hooks.append(call)
