/* abi.h - what a plug-in and a host of OpenFX image effects say to each other: the structs, suites
 * and words of the public specification (versions 1.0 to 1.5), as far as this plug-in and the host
 * of its tests use them.
 *
 * Members and their order are the binary interface and must not change. Suites may grow at their
 * ends. A word is what the specification spells between quotes; its name here is its own. */
#pragma once

#include <stddef.h>

/* --- plain types ------------------------------------------------------------------------------ */

typedef int ofx_status;
enum {
    OFX_OK,
    OFX_FAILED,
    OFX_FATAL,
    OFX_UNKNOWN,
    OFX_MISSING_FEATURE,
    OFX_UNSUPPORTED,
    OFX_MEMORY = 8,
    OFX_BAD_HANDLE,
    OFX_BAD_INDEX,
    OFX_BAD_VALUE,
    OFX_YES,
    OFX_NO,
    OFX_DEFAULT
};

typedef struct ofx_property_set *ofx_properties;
typedef struct ofx_effect *ofx_effect_handle;
typedef struct ofx_clip *ofx_clip_handle;
typedef struct ofx_param *ofx_param_handle;
typedef struct ofx_param_set *ofx_params;

typedef double ofx_time;
typedef struct {
    int x1, y1, x2, y2; /* from, to before; y goes up */
} ofx_rect_i;
typedef struct {
    double x1, y1, x2, y2;
} ofx_rect_d;

/* --- a plug-in and its host ------------------------------------------------------------------- */

typedef struct {
    ofx_properties host;
    /* Returns a suite, or NULL. */
    const void *(*fetch_suite)(ofx_properties host, const char *name, int version);
} ofx_host;

typedef ofx_status ofx_entry(const char *action, const void *handle, ofx_properties in,
                             ofx_properties out);

typedef struct {
    const char *api;
    int api_version;
    const char *id;
    unsigned major, minor;
    void (*set_host)(ofx_host *host);
    ofx_entry *main;
} ofx_plugin;

/* A binary exports these. */
__attribute__((visibility("default"))) int OfxGetNumberOfPlugins(void);
__attribute__((visibility("default"))) ofx_plugin *OfxGetPlugin(int nth);
__attribute__((visibility("default"))) ofx_status OfxSetHost(const ofx_host *host);

#define OFX_API_IMAGE_EFFECT "OfxImageEffectPluginAPI"

/* --- suites ----------------------------------------------------------------------------------- */

#define OFX_SUITE_PROPERTY "OfxPropertySuite"
typedef struct {
    ofx_status (*set_pointer)(ofx_properties, const char *name, int index, void *);
    ofx_status (*set_string)(ofx_properties, const char *name, int index, const char *);
    ofx_status (*set_double)(ofx_properties, const char *name, int index, double);
    ofx_status (*set_int)(ofx_properties, const char *name, int index, int);
    void *set_pointers; /* what nobody here uses has no type */
    ofx_status (*set_strings)(ofx_properties, const char *name, int count, const char *const *);
    ofx_status (*set_doubles)(ofx_properties, const char *name, int count, const double *);
    void *set_ints;
    ofx_status (*get_pointer)(ofx_properties, const char *name, int index, void **);
    ofx_status (*get_string)(ofx_properties, const char *name, int index, char **);
    ofx_status (*get_double)(ofx_properties, const char *name, int index, double *);
    ofx_status (*get_int)(ofx_properties, const char *name, int index, int *);
    void *get_many[2];
    ofx_status (*get_doubles)(ofx_properties, const char *name, int count, double *);
    ofx_status (*get_ints)(ofx_properties, const char *name, int count, int *);
} ofx_property_suite;

#define OFX_SUITE_EFFECT "OfxImageEffectSuite"
typedef struct {
    ofx_status (*properties)(ofx_effect_handle, ofx_properties *);
    ofx_status (*params)(ofx_effect_handle, ofx_params *);
    ofx_status (*define_clip)(ofx_effect_handle, const char *name, ofx_properties *);
    ofx_status (*clip)(ofx_effect_handle, const char *name, ofx_clip_handle *, ofx_properties *);
    ofx_status (*clip_properties)(ofx_clip_handle, ofx_properties *);
    ofx_status (*get_image)(ofx_clip_handle, ofx_time, const ofx_rect_d *, ofx_properties *);
    ofx_status (*release_image)(ofx_properties image);
    ofx_status (*clip_region)(ofx_clip_handle, ofx_time, ofx_rect_d *);
    int (*abort)(ofx_effect_handle);
    /* Memory follows, which nobody here uses, as nobody uses the ends of the suites below. */
} ofx_effect_suite;

#define OFX_SUITE_PARAM "OfxParameterSuite"
typedef struct {
    ofx_status (*define)(ofx_params, const char *type, const char *name, ofx_properties *);
    ofx_status (*handle)(ofx_params, const char *name, ofx_param_handle *, ofx_properties *);
    void *others[3];
    ofx_status (*value_at)(ofx_param_handle, ofx_time, ...);
} ofx_param_suite;

#define OFX_SUITE_MESSAGE "OfxMessageSuite" /* version 1 has the first member alone */
typedef struct {
    ofx_status (*message)(void *handle, const char *type, const char *id, const char *format, ...);
    ofx_status (*set_persistent)(void *handle, const char *type, const char *id, const char *format,
                                 ...);
    ofx_status (*clear_persistent)(void *handle);
} ofx_message_suite;

#define OFX_SUITE_PROGRESS "OfxProgressSuite"
typedef struct {
    ofx_status (*start)(void *effect, const char *label);
    ofx_status (*update)(void *effect, double done);
    ofx_status (*end)(void *effect);
} ofx_progress_suite;

/* --- actions ---------------------------------------------------------------------------------- */

#define OFX_LOAD                 "OfxActionLoad"
#define OFX_UNLOAD               "OfxActionUnload"
#define OFX_DESCRIBE             "OfxActionDescribe"
#define OFX_CREATE               "OfxActionCreateInstance"
#define OFX_DESTROY              "OfxActionDestroyInstance"
#define OFX_PURGE                "OfxActionPurgeCaches"
#define OFX_CHANGED              "OfxActionInstanceChanged"
#define OFX_DESCRIBE_IN_CONTEXT  "OfxImageEffectActionDescribeInContext"
#define OFX_REGION_OF_DEFINITION "OfxImageEffectActionGetRegionOfDefinition"
#define OFX_REGIONS_OF_INTEREST  "OfxImageEffectActionGetRegionsOfInterest"
#define OFX_CLIP_PREFERENCES     "OfxImageEffectActionGetClipPreferences"
#define OFX_IS_IDENTITY          "OfxImageEffectActionIsIdentity"
#define OFX_BEGIN_SEQUENCE       "OfxImageEffectActionBeginSequenceRender"
#define OFX_RENDER               "OfxImageEffectActionRender"
#define OFX_END_SEQUENCE         "OfxImageEffectActionEndSequenceRender"

/* --- words of all objects --------------------------------------------------------------------- */

#define OFX_NAME          "OfxPropName"
#define OFX_TIME          "OfxPropTime"
#define OFX_LABEL         "OfxPropLabel"
#define OFX_INSTANCE_DATA "OfxPropInstanceData"
#define OFX_DESCRIPTION   "OfxPropPluginDescription"

/* --- words of effects ------------------------------------------------------------------------- */

#define OFX_GROUPING        "OfxImageEffectPluginPropGrouping"
#define OFX_CONTEXT         "OfxImageEffectPropContext"
#define OFX_CONTEXTS        "OfxImageEffectPropSupportedContexts"
#define OFX_FILTER          "OfxImageEffectContextFilter"
#define OFX_GENERAL         "OfxImageEffectContextGeneral"
#define OFX_DEPTHS          "OfxImageEffectPropSupportedPixelDepths"
#define OFX_TILES           "OfxImageEffectPropSupportsTiles"
#define OFX_FRAME_THREADING "OfxImageEffectPluginPropHostFrameThreading"
#define OFX_THREAD_SAFETY   "OfxImageEffectPluginRenderThreadSafety"
#define OFX_FULLY_SAFE      "OfxImageEffectRenderFullySafe"
#define OFX_WINDOW          "OfxImageEffectPropRenderWindow"
#define OFX_SCALE           "OfxImageEffectPropRenderScale"
#define OFX_REGION_DEFINED  "OfxImageEffectPropRegionOfDefinition"
#define OFX_REGION_ASKED    "OfxImageEffectPropRegionOfInterest"
#define OFX_REGION_OF_CLIP  "OfxImageClipPropRoI_" /* the clip's name follows */

/* --- words of clips and images ---------------------------------------------------------------- */

#define OFX_SOURCE               "Source"
#define OFX_OUTPUT               "Output"
#define OFX_OPTIONAL             "OfxImageClipPropOptional"
#define OFX_IS_MASK              "OfxImageClipPropIsMask"
#define OFX_CONNECTED            "OfxImageClipPropConnected"
#define OFX_COMPONENTS_SUPPORTED "OfxImageEffectPropSupportedComponents"
#define OFX_COMPONENTS           "OfxImageEffectPropComponents"
#define OFX_RGBA                 "OfxImageComponentRGBA"
#define OFX_RGB                  "OfxImageComponentRGB"
#define OFX_ALPHA                "OfxImageComponentAlpha"
#define OFX_DEPTH                "OfxImageEffectPropPixelDepth"
#define OFX_BYTE                 "OfxBitDepthByte"
#define OFX_SHORT                "OfxBitDepthShort"
#define OFX_HALF                 "OfxBitDepthHalf"
#define OFX_FLOAT                "OfxBitDepthFloat"
#define OFX_PREMULTIPLICATION    "OfxImageEffectPropPreMultiplication"
#define OFX_PREMULTIPLIED        "OfxImageAlphaPremultiplied"
#define OFX_UNPREMULTIPLIED      "OfxImageAlphaUnPremultiplied"
#define OFX_DATA                 "OfxImagePropData"
#define OFX_BOUNDS               "OfxImagePropBounds"
#define OFX_IMAGE_WHOLE          "OfxImagePropRegionOfDefinition"
#define OFX_ROW_BYTES            "OfxImagePropRowBytes"
#define OFX_PIXEL_ASPECT         "OfxImagePropPixelAspectRatio"

/* --- words of controls ------------------------------------------------------------------------ */

#define OFX_TYPE_DOUBLE  "OfxParamTypeDouble"
#define OFX_TYPE_CHOICE  "OfxParamTypeChoice"
#define OFX_TYPE_BOOLEAN "OfxParamTypeBoolean"
#define OFX_TYPE_STRING  "OfxParamTypeString"
#define OFX_TYPE_RGB     "OfxParamTypeRGB"
#define OFX_PRESET       "OfxParamPropDefault"
#define OFX_MIN          "OfxParamPropMin"
#define OFX_MAX          "OfxParamPropMax"
#define OFX_SHOWN_MIN    "OfxParamPropDisplayMin"
#define OFX_SHOWN_MAX    "OfxParamPropDisplayMax"
#define OFX_HINT         "OfxParamPropHint"
#define OFX_OPTION       "OfxParamPropChoiceOption"
#define OFX_STRING_MODE  "OfxParamPropStringMode"
#define OFX_FILE_PATH    "OfxParamStringIsFilePath"

/* --- messages --------------------------------------------------------------------------------- */

#define OFX_MESSAGE_ERROR   "OfxMessageError"
#define OFX_MESSAGE_WARNING "OfxMessageWarning"
